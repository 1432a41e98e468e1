"""A walk through networking.k8s.io and discovery.k8s.io: ingresses, policies, addresses, slices."""

from tests.kubectl.runner import Kubectl, one_version

POLICY = """
    apiVersion: networking.k8s.io/v1
    kind: NetworkPolicy
    metadata: {name: db}
    spec:
      podSelector: {matchLabels: {role: db}}
      ingress:
      - from: [{podSelector: {matchLabels: {role: api}}}]
        ports: [{port: 5432}]
"""
CLASSES = """
    apiVersion: networking.k8s.io/v1
    kind: IngressClass
    metadata:
      name: acme
      annotations: {ingressclass.kubernetes.io/is-default-class: "true"}
    spec:
      controller: acme.io/ingress
      parameters: {apiGroup: acme.io, kind: Config, name: external}
"""
ADDRESSES = """
    apiVersion: networking.k8s.io/v1
    kind: ServiceCIDR
    metadata: {name: extra}
    spec: {cidrs: [192.0.2.0/24]}
    ---
    apiVersion: networking.k8s.io/v1
    kind: IPAddress
    metadata: {name: 192.0.2.7}
    spec: {parentRef: {resource: services, namespace: default, name: web}}
"""
SLICE = """
    apiVersion: discovery.k8s.io/v1
    kind: EndpointSlice
    metadata: {name: web-1, labels: {kubernetes.io/service-name: web}}
    addressType: IPv4
    ports: [{name: http, port: 8080}]
    endpoints:
    - addresses: [10.1.2.3]
    - addresses: [10.1.2.4]
    - addresses: [10.1.2.5]
    - addresses: [10.1.2.6]
"""


@one_version
def test_ingresses_are_created_shown_and_explained(kubectl: Kubectl) -> None:
    kubectl.replays("""
        $ kubectl create ingress web --class=plain --default-backend=web:80 --rule=web.example.com/api*=api:https --rule=web.example.com/=web:8080,tls=web-tls
        ingress.networking.k8s.io/web created
        $ kubectl get ingress
        NAME   CLASS   HOSTS             ADDRESS   PORTS     AGE
        web    plain   web.example.com             80, 443   AGE
        $ kubectl create ingress bad --rule=1.2.3.4/=web:80
        error: failed to create ingress: Ingress.networking.k8s.io "bad" is invalid: spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address
        (exit 1)
        $ kubectl annotate ing web note=first
        ingress.networking.k8s.io/web annotated
        $ kubectl delete ing web
        ingress.networking.k8s.io "web" deleted
    """)  # noqa: E501
    assert "FIELD: host <string>" in kubectl.output("explain", "ingress.spec.rules.host")


@one_version
def test_new_ingresses_get_the_default_class(kubectl: Kubectl) -> None:
    kubectl.write("class.yaml", CLASSES)

    kubectl.replays("""
        $ kubectl apply -f class.yaml
        ingressclass.networking.k8s.io/acme created
        $ kubectl apply -f class.yaml
        ingressclass.networking.k8s.io/acme unchanged
        $ kubectl get ingressclass acme
        NAME             CONTROLLER        PARAMETERS                 AGE
        acme (default)   acme.io/ingress   Config.acme.io/external   AGE
        $ kubectl create ingress web --default-backend=web:80
        ingress.networking.k8s.io/web created
        $ kubectl get ingress web -o jsonpath={.spec.ingressClassName}
        acme
        $ kubectl delete -f class.yaml
        ingressclass.networking.k8s.io "acme" deleted
    """)


@one_version
def test_policies_are_described(kubectl: Kubectl) -> None:
    kubectl.write("policy.yaml", POLICY)

    kubectl.replays("""
        $ kubectl apply -f policy.yaml
        networkpolicy.networking.k8s.io/db created
        $ kubectl diff -f policy.yaml
        $ kubectl get netpol
        NAME   POD-SELECTOR   AGE
        db     role=db        AGE
        $ kubectl describe netpol db
        Name:         db
        Namespace:    NAMESPACE
        Created on:   TIME UTC
        Labels:       <none>
        Annotations:  <none>
        Spec:
          PodSelector:     role=db
          Allowing ingress traffic:
            To Port: 5432/TCP
            From:
              PodSelector: role=api
          Not affecting egress traffic
          Policy Types: Ingress
    """)


@one_version
def test_ranges_and_addresses(kubectl: Kubectl) -> None:
    kubectl.write("addresses.yaml", ADDRESSES)

    kubectl.replays("""
        $ kubectl create -f addresses.yaml
        servicecidr.networking.k8s.io/extra created
        ipaddress.networking.k8s.io/192.0.2.7 created
        $ kubectl get servicecidr extra
        NAME    CIDRS          AGE
        extra   192.0.2.0/24   AGE
        $ kubectl get ip 192.0.2.7
        NAME        PARENTREF
        192.0.2.7   services/default/web
        $ kubectl delete -f addresses.yaml
        servicecidr.networking.k8s.io "extra" deleted
        ipaddress.networking.k8s.io "192.0.2.7" deleted
    """)


@one_version
def test_slices_of_endpoints(kubectl: Kubectl) -> None:
    kubectl.write("slice.yaml", SLICE)

    kubectl.replays("""
        $ kubectl apply -f slice.yaml
        endpointslice.discovery.k8s.io/web-1 created
        $ kubectl get endpointslices
        NAME    ADDRESSTYPE   PORTS   ENDPOINTS                                 AGE
        web-1   IPv4          8080    10.1.2.3,10.1.2.4,10.1.2.5 + 1 more...   AGE
        $ kubectl patch endpointslice web-1 -p '{"addressType": "IPv6"}'
        The EndpointSlice "web-1" is invalid: addressType: Invalid value: null: field is immutable
        (exit 1)
    """)
