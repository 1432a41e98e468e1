"""Resource quantities: the grammar, the canonical form, exact arithmetic and the wire."""

import copy
import pickle
import time
from decimal import ROUND_UP, Context, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from apimachinery.fieldpath import quote
from apimachinery.scalars.quantity import Format, InvalidQuantity, Quantity, parse_quantity
from tests.pauses import measures_time

EXACT = Context(prec=1000)
NANO = Decimal("1e-9")
DECIMAL_SUFFIXES = {
    "n": "1e-9",
    "u": "1e-6",
    "m": "1e-3",
    "": "1",
    "k": "1e3",
    "M": "1e6",
    "G": "1e9",
    "T": "1e12",
    "P": "1e15",
    "E": "1e18",
}
BINARY_SUFFIXES = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
LARGEST_BINARY = 2**63 - 1

numbers = st.from_regex(r"[+-]?([0-9]{1,12}(\.[0-9]{0,12})?|\.[0-9]{1,12})", fullmatch=True)
suffixes = st.sampled_from([*DECIMAL_SUFFIXES, *BINARY_SUFFIXES]) | st.from_regex(
    r"[eE][+-]?[0-9]{1,2}", fullmatch=True
)
texts = st.builds(str.__add__, numbers, suffixes)
quantities = st.builds(lambda text, form: Quantity(text, form), texts, st.sampled_from(Format))


def meaning(number: str, suffix: str) -> Decimal:
    """What a quantity means, computed without the code under test."""
    amount = Decimal(number)
    if suffix in BINARY_SUFFIXES:
        amount = EXACT.multiply(amount, Decimal(2 ** BINARY_SUFFIXES[suffix]))
    elif suffix in DECIMAL_SUFFIXES:
        amount = EXACT.multiply(amount, Decimal(DECIMAL_SUFFIXES[suffix]))
    else:
        amount = EXACT.scaleb(amount, int(suffix[1:]))
    amount = amount.quantize(NANO, rounding=ROUND_UP, context=EXACT)
    if suffix in BINARY_SUFFIXES:
        amount = max(min(amount, Decimal(LARGEST_BINARY)), Decimal(-LARGEST_BINARY))
    return amount


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("0", "0"),
        ("-0", "0"),
        ("0Ki", "0"),
        ("1.5Gi", "1536Mi"),
        ("0.5", "500m"),
        ("1000m", "1"),
        ("1.2345", "1234500u"),
        ("1024Mi", "1Gi"),
        ("1000M", "1G"),
        ("307200Ki", "300Mi"),
        ("1025024Mi", "1001Gi"),
        ("5000m", "5"),
        ("0.001T", "1G"),
        ("1080000000n", "1080m"),
        ("+1", "1"),
        ("010m", "10m"),
        ("1.", "1"),
        ("1.G", "1G"),
        (".001", "1m"),
        ("12E", "12E"),
        ("1000E", "1e21"),
        ("18446744073709551616", "18446744073709551616"),
        (".001e12", "1e9"),
        ("0.001e0", "1e-3"),
        ("1000e-12", "1e-9"),
        ("1.3E+6", "1300e3"),
        ("12e6", "12e6"),
        ("1e0", "1"),
        # Less than 1Ki and fractions have no binary form.
        ("0.5Ki", "512"),
        (".001Ki", "1024m"),
        ("100.035Ki", "102435840m"),
        # Finer than nano is rounded away from zero.
        ("3.001n", "4n"),
        ("-3.001n", "-4n"),
        ("0.0000000001", "1n"),
        ("1.1E-9", "2e-9"),
        (".000000000001Ki", "2n"),
        # Binary amounts are capped, decimal ones are not.
        ("8Ei", "9223372036854775807"),
        ("-9Ei", "-9223372036854775807"),
        ("9223372036854775807Ki", "9223372036854775807"),
        ("9223372036854775808", "9223372036854775808"),
    ],
)
def test_a_quantity_is_written_in_canonical_form(text: str, canonical: str) -> None:
    assert str(Quantity(text)) == canonical


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("1", Format.DECIMAL_SI),
        ("1E", Format.DECIMAL_SI),
        ("1E3", Format.DECIMAL_EXPONENT),
        ("0.5e0", Format.DECIMAL_EXPONENT),
        ("1Ki", Format.BINARY_SI),
        ("0Ki", Format.BINARY_SI),
        ("100.035Ki", Format.BINARY_SI),
        ("0.000000000001Ki", Format.DECIMAL_SI),
    ],
)
def test_a_quantity_remembers_its_suffix_family(text: str, form: Format) -> None:
    assert Quantity(text).format is form


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "regular expression"),
        ("aoeu", "regular expression"),
        ("Non-Numeric", "regular expression"),
        (" 1", "regular expression"),
        ("1 ", "regular expression"),
        ("1\n", "regular expression"),
        ("1.1.M", "regular expression"),
        ("1+1.0M", "regular expression"),
        ("0.1am", "regular expression"),
        ("m", "regular expression"),
        ("-", "regular expression"),
        ("\u0661", "regular expression"),
        (".", "numeric part"),
        ("-.", "numeric part"),
        ("1i", "suffix"),
        (".5i", "suffix"),
        ("0.1mi", "suffix"),
        ("1e", "suffix"),
        ("-3.01e-", "suffix"),
        ("1+3", "suffix"),
        ("1k3", "suffix"),
        ("1eE3", "suffix"),
        ("1e999999999", "between -256 and 256"),
        ("1e-999999999", "between -256 and 256"),
        ("1e201", "between -1e200 and 1e200"),
        pytest.param("9" * 257, "no more than 256 characters", id="long"),
    ],
)
def test_what_is_not_a_quantity_is_refused_with_the_rule(text: str, rule: str) -> None:
    with pytest.raises(InvalidQuantity, match=rule) as caught:
        Quantity(text)

    assert quote(text[:32])[1:-1] in str(caught.value)


@measures_time
def test_hostile_texts_are_refused_at_once() -> None:
    hostile = ["9" * 10_000_000, "1e999999999", "1e-999999999", "." * 10_000_000, "E" * 256]

    started = time.perf_counter()
    for text in hostile:
        with pytest.raises(InvalidQuantity):
            Quantity(text)

    assert time.perf_counter() - started < 0.5


@given(numbers, suffixes)
def test_reading_agrees_with_decimal_arithmetic(number: str, suffix: str) -> None:
    assert Quantity(number + suffix).as_decimal() == meaning(number, suffix)


@given(quantities)
def test_what_is_written_can_be_read_again(quantity: Quantity) -> None:
    assert parse_quantity(str(quantity)) == quantity


@given(quantities)
def test_the_canonical_form_has_no_fraction_no_plus_and_the_largest_suffix(
    quantity: Quantity,
) -> None:
    text = str(quantity)

    assert "." not in text
    assert "+" not in text
    digits = text.rstrip("numkMGTPEi").partition("e")[0]
    steps = 1024 if text.endswith("i") else 1000
    at_the_top = quantity.is_zero or quantity.format is Format.BINARY_SI
    assert at_the_top or int(digits) % steps != 0


@given(st.text(alphabet="0123456789.+-eEinumkKMGTP \u0661\n", max_size=20) | st.text())
def test_any_text_is_a_quantity_or_an_invalid_one(text: str) -> None:
    try:
        quantity = Quantity(text)
    except InvalidQuantity:
        return

    assert parse_quantity(str(quantity)) == quantity


@given(quantities, quantities, st.integers(-(10**20), 10**20))
def test_arithmetic_is_exact(a: Quantity, b: Quantity, factor: int) -> None:
    x, y = a.as_decimal(), b.as_decimal()

    assert (a + b).as_decimal() == EXACT.add(x, y)
    assert (a - b).as_decimal() == EXACT.subtract(x, y)
    assert (a * factor).as_decimal() == (factor * a).as_decimal() == EXACT.multiply(x, factor)
    assert (-a).as_decimal() == EXACT.minus(x)
    assert abs(a).as_decimal() == EXACT.abs(x)


@given(quantities, quantities)
def test_order_is_that_of_the_amounts(a: Quantity, b: Quantity) -> None:
    x, y = a.as_decimal(), b.as_decimal()

    assert (a < b, a <= b, a > b, a >= b, a == b) == (x < y, x <= y, x > y, x >= y, x == y)
    assert a.sign == EXACT.compare(x, Decimal(0))


@given(quantities)
def test_integers_are_rounded_away_from_zero(quantity: Quantity) -> None:
    amount = quantity.as_decimal()

    def rounded(scaled: Decimal) -> int:
        return int(scaled.to_integral_value(rounding=ROUND_UP, context=EXACT))

    assert quantity.value() == int(quantity) == rounded(amount)
    assert quantity.milli_value() == rounded(EXACT.scaleb(amount, 3))
    assert quantity.scaled_value(3) == rounded(EXACT.scaleb(amount, -3))


def test_equal_amounts_are_equal_and_hash_alike_whatever_their_spelling() -> None:
    spellings = {Quantity("1Ki"), Quantity("1024"), Quantity("1024000m"), Quantity("1.024e3")}

    assert len(spellings) == 1
    assert Quantity("1") != Quantity("1m")
    assert Quantity("1") != "1"


@pytest.mark.parametrize("text", ["100m", "1Gi"])
def test_a_sum_that_starts_from_zero_takes_the_suffix_of_what_is_added(text: str) -> None:
    zero, quantity = Quantity(), Quantity(text)

    assert str(zero + quantity) == str(quantity + zero) == str(quantity - zero) == text
    assert str(zero - quantity) == f"-{text}"


def test_a_binary_amount_beyond_the_cap_is_written_without_a_binary_suffix() -> None:
    """Written as 8Ei it would be read as one less."""
    quantity = Quantity("4Ei") * 2

    assert str(quantity) == "9223372036854775808"
    assert parse_quantity(str(quantity)) == quantity


def test_a_product_can_be_too_large() -> None:
    with pytest.raises(InvalidQuantity, match="1e200"):
        Quantity("1e200") * 2


def test_quantities_multiply_only_with_integers_and_compare_only_with_quantities() -> None:
    with pytest.raises(TypeError):
        Quantity("1") * 1.5  # type: ignore[operator]
    with pytest.raises(TypeError):
        Quantity("1") < 2  # type: ignore[operator]  # noqa: B015
    with pytest.raises(TypeError):
        Quantity("1") + 2  # type: ignore[operator]


@pytest.mark.parametrize(
    ("value", "canonical"),
    [(5, "5"), (2000, "2k"), (0.1, "100m"), (1e22, "10e21"), (Decimal("1.50"), "1500m")],
)
def test_numbers_become_quantities(value: int | float | Decimal, canonical: str) -> None:
    assert str(Quantity(value)) == canonical


def test_a_format_can_be_chosen() -> None:
    assert str(Quantity(1024, Format.BINARY_SI)) == "1Ki"
    assert str(Quantity("1Ki", Format.DECIMAL_SI)) == "1024"
    assert str(Quantity.from_milli(1_000_000, Format.DECIMAL_EXPONENT)) == "1e3"
    assert str(Quantity.from_milli(1)) == "1m"


@pytest.mark.parametrize(
    "value", [True, float("nan"), float("inf"), Decimal("sNaN"), pytest.param(10**5000, id="huge")]
)
def test_other_values_are_refused(value: float) -> None:
    with pytest.raises(InvalidQuantity):
        Quantity(value)


def test_a_quantity_cannot_be_changed() -> None:
    quantity = Quantity("1")

    with pytest.raises(AttributeError):
        quantity._nano = 2
    with pytest.raises(AttributeError):
        del quantity._nano
    with pytest.raises(AttributeError):
        quantity.unit = "m"


def test_copies_are_the_quantity_itself_and_pickles_keep_the_format() -> None:
    quantity = Quantity(5, Format.BINARY_SI)

    assert copy.copy(quantity) is copy.deepcopy(quantity) is quantity
    again = pickle.loads(pickle.dumps(quantity))
    assert again == quantity
    assert again.format is Format.BINARY_SI


class Resources(BaseModel):
    model_config = ConfigDict(strict=True)

    divisor: Quantity = Quantity()
    limit: Quantity | None = None
    requests: dict[str, Quantity] = {}


def test_documents_hold_strings_or_numbers_and_get_canonical_strings() -> None:
    document = (
        '{"divisor": 0.5, "limit": null,'
        ' "requests": {"cpu": 2, "memory": "1.5Gi", "x": " 1 ", "y": null}}'
    )

    resources = Resources.model_validate_json(document)

    assert resources.model_dump(mode="json") == {
        "divisor": "500m",
        "limit": None,
        "requests": {"cpu": "2", "memory": "1536Mi", "x": "1", "y": "0"},
    }
    assert Resources.model_validate_json(resources.model_dump_json()) == resources


def test_models_take_quantities_and_texts_from_python_and_keep_quantities() -> None:
    quantity = Quantity("1Gi")

    resources = Resources(limit=quantity, requests={"cpu": "1"})  # type: ignore[dict-item]

    assert resources.limit is quantity
    assert resources.model_dump()["requests"] == {"cpu": Quantity("1")}


@pytest.mark.parametrize("value", ["true", "[]", "{}", '"x"', '""', '"1e999"', "1e400"])
def test_a_document_with_a_bad_quantity_names_the_place(value: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Resources.model_validate_json(f'{{"requests": {{"cpu": {value}}}}}')

    assert caught.value.errors()[0]["loc"] == ("requests", "cpu")


def test_the_schema_of_a_quantity_is_a_string() -> None:
    assert TypeAdapter(Quantity).json_schema() == {"type": "string"}
