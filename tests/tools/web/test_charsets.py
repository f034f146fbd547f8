import pytest
from hypothesis import given
from hypothesis import strategies as st
from sufficit.tools.web.charsets import decode

CHINESE = "莱茵河发源于阿尔卑斯山，流入北海。" * 12
JAPANESE = "ライン川はアルプス山脈に源を発し、北海に注ぐ。" * 12
RUSSIAN = "Рейн берёт начало в Альпах и впадает в Северное море. " * 12


@pytest.mark.parametrize(
    ("text", "encoding"),
    [(CHINESE, "gbk"), (JAPANESE, "shift_jis"), (RUSSIAN, "windows-1251"), (RUSSIAN, "utf-8")],
)
@pytest.mark.parametrize("header", ["right", "wrong", None])
@pytest.mark.parametrize("meta", [True, False])
def test_pages_in_many_charsets_are_read_whatever_is_declared(
    text: str, encoding: str, header: str | None, meta: bool
):
    declared = f'<meta charset="{encoding}">' if meta else ""
    content = f"<html><head>{declared}</head><p>{text}".encode(encoding)
    # UTF-8 is the usual wrong header; it explains none of these bytes.
    said = {"right": encoding, "wrong": "utf-8", None: None}[header]
    assert text in decode(content, said)[0]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_decides(encoding: str):
    assert decode("Größe".encode(encoding), "windows-1251")[0] == "Größe"


def test_utf_8_is_known_by_its_bytes():
    assert decode("Größe".encode(), "iso-8859-1") == ("Größe", "utf-8")
    # Cut in the middle of a character, as at a limit.
    assert decode("Größ".encode()[:-1], "iso-8859-1")[0] == "Grö"


@pytest.mark.parametrize("label", ["rot13", "base64", "idna", "no-such", "", "zip", "\x00", "utf-8\n"])
def test_labels_that_are_no_charset_of_text_are_passed_over(label: str):
    assert "Rhein" in decode(b"Der Rhein \xe4ndert sich oft und gern.", label)[0]


def test_latin_1_is_read_as_browsers_do():
    assert decode(b"\x93quoted\x94", "iso-8859-1") == ("“quoted”", "cp1252")


@given(
    st.binary(max_size=300),
    st.none() | st.sampled_from(["utf-8", "gbk", "utf-16", "shift_jis", "utf-7", "hz"]),
)
def test_any_bytes_give_some_text(content: bytes, header: str | None):
    text, charset = decode(content, header)
    assert isinstance(text, str)
    assert charset
