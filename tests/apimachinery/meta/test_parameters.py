"""Query strings and the options they stand for."""

from typing import Any
from urllib.parse import parse_qs, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.errors import BadRequest
from apimachinery.meta.options import (
    CreateOptions,
    DeleteOptions,
    GetOptions,
    ListOptions,
    PatchOptions,
    TableOptions,
    UpdateOptions,
)
from apimachinery.meta.query_parameters import dump, load, load_list
from apimachinery.meta.types import Preconditions

KINDS: tuple[Any, ...] = (
    ListOptions,
    GetOptions,
    CreateOptions,
    UpdateOptions,
    PatchOptions,
    DeleteOptions,
    TableOptions,
)
NAMES = (
    "labelSelector",
    "fieldSelector",
    "watch",
    "allowWatchBookmarks",
    "resourceVersion",
    "resourceVersionMatch",
    "timeoutSeconds",
    "limit",
    "continue",
    "sendInitialEvents",
    "dryRun",
    "fieldManager",
    "fieldValidation",
    "force",
    "gracePeriodSeconds",
    "orphanDependents",
    "propagationPolicy",
    "uid",
    "includeObject",
    "preconditions",
    "kind",
)

texts = st.text(max_size=8)
any_text = texts | st.text(st.characters(), max_size=8)  # also lone surrogates
int64 = st.integers(-(2**63), 2**63 - 1)
flags = st.none() | st.booleans()
dry_runs = st.lists(texts, max_size=3)
writing = {"dry_run": dry_runs, "field_manager": texts, "field_validation": texts}

list_options = st.builds(
    ListOptions,
    label_selector=st.sampled_from(["", "a", "!a", "a=b,c notin (d,e)", "a>1"]),
    field_selector=st.sampled_from(["", "metadata.name=a", r"a=b\,c,d!=e"]),
    watch=st.booleans(),
    allow_watch_bookmarks=st.booleans(),
    resource_version=texts,
    resource_version_match=texts,
    timeout_seconds=st.none() | int64,
    limit=int64,
    continue_=texts,
    send_initial_events=flags,
)
some_text = st.text(min_size=1, max_size=8)
preconditions = st.builds(
    Preconditions, uid=st.none() | some_text, resource_version=st.none() | some_text
).filter(lambda made: made != Preconditions())
delete_options = st.builds(
    DeleteOptions,
    grace_period_seconds=st.none() | int64,
    preconditions=st.none() | preconditions,
    orphan_dependents=flags,
    propagation_policy=st.none() | texts,
    dry_run=dry_runs,
    ignore_store_read_error_with_cluster_breaking_potential=flags,
)
options_of_any_kind = st.one_of(
    list_options,
    delete_options,
    st.builds(GetOptions, resource_version=texts),
    st.builds(CreateOptions, **writing),
    st.builds(UpdateOptions, **writing),
    st.builds(PatchOptions, **writing, force=flags),
    st.builds(TableOptions, include_object=texts),
)


@given(options_of_any_kind)
def test_what_is_dumped_is_loaded_again(options: Any) -> None:
    assert load(type(options), dump(options)) == options


@given(options_of_any_kind)
def test_a_url_in_between_changes_nothing(options: Any) -> None:
    url = urlencode(dump(options), doseq=True)

    assert load(type(options), parse_qs(url, keep_blank_values=True)) == options


@given(
    st.sampled_from(KINDS),
    st.dictionaries(
        st.sampled_from(NAMES) | any_text,
        st.lists(
            any_text | st.sampled_from(["1", "-1", "x" * 9, "9" * 30, "+", "a in (", "a=b=c"]),
            max_size=3,
        ),
        max_size=6,
    ),
)
def test_arbitrary_queries_are_read_or_refused(kind: Any, query: dict[str, list[str]]) -> None:
    try:
        options = load(kind, query)
    except BadRequest as error:
        assert str(error).encode()
    else:
        assert type(options) is kind
        assert load(kind, dump(options)) == options


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_empty_query_gives_the_defaults_and_no_shared_state(kind: Any) -> None:
    first, second = load(kind, {}), load(kind, {})

    assert first == kind()
    assert first is not second


def test_a_dry_run_added_to_one_default_is_not_in_the_next() -> None:
    load(CreateOptions, {}).dry_run.append("All")

    assert load(CreateOptions, {}).dry_run == []


def test_unknown_parameters_are_ignored() -> None:
    query = {"pretty": ["true"], "Limit": ["7"], "kind": ["Pod"], "label_selector": ["("]}

    assert load(ListOptions, query) == ListOptions()


def test_of_a_repeated_parameter_the_first_counts_and_of_a_list_all() -> None:
    query = {"fieldManager": ["a", "b"], "dryRun": ["All", "x"]}

    options = load(CreateOptions, query)

    assert options == CreateOptions(field_manager="a", dry_run=["All", "x"])


def test_a_parameter_without_values_is_absent() -> None:
    query: dict[str, list[str]] = {"limit": [], "watch": [], "force": [], "dryRun": []}

    assert load(ListOptions, query) == ListOptions()
    assert load(PatchOptions, query) == PatchOptions()


@pytest.mark.parametrize("text", ["0", "false", "FALSE", "False"])
def test_these_flags_are_false(text: str) -> None:
    options = load(ListOptions, {"watch": [text], "sendInitialEvents": [text]})

    assert options.watch is False
    assert options.send_initial_events is False


@pytest.mark.parametrize("text", ["", "1", "true", "no", "f", "00", " false"])
def test_any_other_flag_is_true(text: str) -> None:
    options = load(ListOptions, {"watch": [text], "sendInitialEvents": [text]})

    assert options.watch is True
    assert options.send_initial_events is True


def test_flags_that_can_be_unset_stay_so() -> None:
    assert load(ListOptions, {"limit": ["1"]}).send_initial_events is None
    assert load(PatchOptions, {"fieldManager": ["m"]}).force is None
    assert load(DeleteOptions, {"dryRun": ["All"]}).orphan_dependents is None


@pytest.mark.parametrize(
    ("text", "value"),
    [("5", 5), ("-5", -5), ("+5", 5), ("007", 7), ("-9223372036854775808", -(2**63))],
)
def test_integers_are_read_as_go_reads_them(text: str, value: int) -> None:
    assert load(ListOptions, {"limit": [text]}).limit == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("abc", 'strconv.ParseInt: parsing "abc": invalid syntax'),
        ("", 'strconv.ParseInt: parsing "": invalid syntax'),
        ("-", 'strconv.ParseInt: parsing "-": invalid syntax'),
        ("1.5", 'strconv.ParseInt: parsing "1.5": invalid syntax'),
        ("1_000", 'strconv.ParseInt: parsing "1_000": invalid syntax'),
        (" 1", 'strconv.ParseInt: parsing " 1": invalid syntax'),
        ("1\n", 'strconv.ParseInt: parsing "1\\n": invalid syntax'),
        ("\u0663", 'strconv.ParseInt: parsing "\u0663": invalid syntax'),
        ("9223372036854775808", 'parsing "9223372036854775808": value out of range'),
        ("-9223372036854775809", 'parsing "-9223372036854775809": value out of range'),
        ("99999999999999999999x", 'parsing "99999999999999999999x": value out of range'),
        ("9" * 5000, "value out of range"),
    ],
)
def test_bad_integers_are_refused_in_the_words_of_go(text: str, message: str) -> None:
    with pytest.raises(BadRequest) as caught:
        load(ListOptions, {"timeoutSeconds": [text]})

    assert str(caught.value).endswith(message)
    assert str(caught.value).startswith("strconv.ParseInt: parsing ")


def test_the_first_bad_parameter_in_the_order_of_the_fields_is_told() -> None:
    query = {"limit": ["b"], "labelSelector": ["("], "timeoutSeconds": ["a"]}

    with pytest.raises(BadRequest, match=r'parsing "a": invalid syntax$'):
        load(ListOptions, query)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            {"labelSelector": ["=a"]},
            "found '=', expected: !, identifier, or 'end of string'",
        ),
        (
            {"labelSelector": ["a in b"]},
            "unable to parse requirement: found 'b' expected: '('",
        ),
        (
            {"fieldSelector": ["a"]},
            "invalid selector: 'a'; can't understand 'a'",
        ),
    ],
)
def test_bad_selectors_are_refused_with_the_message_of_the_parser(
    query: dict[str, list[str]], message: str
) -> None:
    for read in (lambda: load(ListOptions, query), lambda: load_list(query)):
        with pytest.raises(BadRequest) as caught:
            read()
        assert str(caught.value) == message


def test_text_that_is_not_unicode_is_refused_by_its_escape() -> None:
    with pytest.raises(BadRequest, match=r'invalid UTF-8 in parameter "a\\udc80"'):
        load(CreateOptions, {"fieldManager": ["a\udc80"]})


def test_a_list_is_loaded_with_its_selectors_and_their_text() -> None:
    options, selection = load_list({"labelSelector": ["b=1, a"], "fieldSelector": ["x==y"]})

    assert options.label_selector == "b=1, a"
    assert str(selection.labels) == "a,b=1"
    assert str(selection.fields) == "x=y"


def test_a_list_without_a_query_selects_everything() -> None:
    options, selection = load_list({})

    assert options == ListOptions()
    assert selection.empty


def test_preconditions_of_a_delete_are_parameters_of_their_own() -> None:
    options = load(DeleteOptions, {"uid": ["u"], "resourceVersion": ["7"]})

    assert options.preconditions == Preconditions(uid="u", resource_version="7")


def test_empty_preconditions_are_none() -> None:
    assert load(DeleteOptions, {"uid": [""], "resourceVersion": [""]}).preconditions is None


def test_an_empty_propagation_policy_is_not_an_absent_one() -> None:
    assert load(DeleteOptions, {"propagationPolicy": [""]}).propagation_policy == ""


def test_a_dump_is_sorted_and_has_only_what_is_set() -> None:
    options = ListOptions(
        kind="ListOptions", watch=True, resource_version="5", timeout_seconds=0, limit=0
    )

    written = dump(options)

    assert list(written.items()) == [
        ("resourceVersion", ["5"]),
        ("timeoutSeconds", ["0"]),
        ("watch", ["true"]),
    ]


def test_what_is_false_on_purpose_is_dumped() -> None:
    assert dump(PatchOptions(force=False)) == {"force": ["false"]}
