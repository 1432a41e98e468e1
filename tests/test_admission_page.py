"""The page about admission has every plugin, in the order of the chain, and whether it is on."""

from pathlib import Path

from apis.kubernetes import KUBERNETES
from apiserver.admission.plugins import GROUP_FUNCTIONS, ORDER
from apiserver.controlplane.server_admission import admission_plugins
from apiserver.controlplane.standard_server import standard_groups, with_standard

PAGE = (Path(__file__).parent.parent / "docs/admission.md").read_text()
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.partition("## The chain")[2].partition("\n## ")[0].splitlines()
    if line.startswith("| ") and not line.startswith("| plugin")
]


def test_the_rows_are_the_chain() -> None:
    names = [row[0].strip("`") for row in ROWS]

    assert names == [name if name != GROUP_FUNCTIONS else "functions of groups" for name in ORDER]


def test_every_plugin_is_there_with_its_default() -> None:
    plugins = admission_plugins(with_standard(KUBERNETES, standard_groups()))

    assert {plugin.name: plugin.on_by_default for plugin in plugins} == {
        row[0].strip("`"): row[3] == "on" for row in ROWS if row[3]
    }
