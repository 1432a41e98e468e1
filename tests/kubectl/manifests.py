"""What users write into files."""

from typing import Final

LAMP: Final = """\
apiVersion: gadgets.example.io/v1
kind: Gadget
metadata:
  name: lamp
  labels:
    app: light
spec:
  model: a1
  replicas: 2
  parts:
  - name: bulb
    size: 1500m
    port: 80
"""

OLD_LAMP: Final = """\
apiVersion: gadgets.example.io/v1beta1
kind: Gadget
metadata:
  name: lamp
spec:
  model: a1
  count: 3
  timeout: 90s
"""

SETTINGS: Final = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  labels:
    app: web
data:
  color: red
"""

SHOP: Final = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: one
  labels:
    app: shop
data:
  k: v
---
apiVersion: v1
kind: Secret
metadata:
  name: two
  labels:
    app: shop
stringData:
  password: hunter2
---
apiVersion: v1
kind: Service
metadata:
  name: three
spec:
  selector:
    app: web
  ports:
  - port: 80
    targetPort: 8080
"""
