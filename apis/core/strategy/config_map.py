"""Strategy of ConfigMaps."""

from apimachinery.fieldpath import FieldErrors
from apis.core.v1.config_map import ConfigMap
from apis.core.validation.config_map import validate_config_map, validate_config_map_update
from apiserver import Strategy


class ConfigMapStrategy(Strategy[ConfigMap]):
    """Names are DNS subdomains; the data of an immutable ConfigMap cannot change."""

    qualified_finalizers = True

    def validate(self, obj: ConfigMap) -> FieldErrors:
        yield from validate_config_map(obj)

    def validate_update(self, new: ConfigMap, old: ConfigMap) -> FieldErrors:
        yield from validate_config_map_update(new, old)
