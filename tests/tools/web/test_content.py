import pytest
from sufficit.tools.errors import FetchRefused
from sufficit.tools.web.content import media_type, page_kind

PNG = b"\x89PNG\r\n\x1a\n\x00\x00"


@pytest.mark.parametrize(
    ("header", "content", "kind"),
    [
        ("text/html; charset=utf-8", b"<p>x", "html"),
        ("application/xhtml+xml", b"<?xml version='1.0'?><html>", "html"),
        ("TEXT/PLAIN", b"<html>as text", "text"),
        ("text/markdown", b"# x", "text"),
        ("", b"\xef\xbb\xbf \n<!DOCTYPE html><p>x", "html"),
        ("", b"plain words", "text"),
        ("application/octet-stream", b"<HTML>", "html"),
        ("application/pdf", b"%PDF-1.7\n", "pdf"),
        ("text/html", b"%PDF-1.7\n\x00", "pdf"),
        ("application/pdf", b"<!doctype html><p>Not found", "html"),
        ("text/html; charset=utf-16", "<p>x".encode("utf-16-le"), "html"),
        ("text/html", "<p>x".encode("utf-16"), "html"),
        ("text/plain", b"", "text"),
    ],
)
def test_header_and_first_bytes_decide(header: str, content: bytes, kind: str):
    assert page_kind(header, content) == kind


@pytest.mark.parametrize(
    ("header", "content"),
    [
        ("text/html", PNG),
        ("text/html", b"PK\x03\x04xl/workbook"),
        ("text/plain", b"\x7fELF\x02\x01\x01\x00"),
        ("text/html", b"\x1f\x8b\x08rest"),
        ("", b"\xff\xd8\xff\xe0"),
        ("image/png", PNG),
        ("image/svg+xml", b"<svg/>"),
        ("application/json", b"{}"),
        ("video/mp4", b"<html>"),
        ("application/zip", b"words"),
    ],
)
def test_what_is_no_text_is_refused(header: str, content: bytes):
    with pytest.raises(FetchRefused, match=r"is no text|is of type"):
        page_kind(header, content)


@pytest.mark.parametrize(
    ("header", "parsed"),
    [
        ('Text/HTML; Charset="Shift_JIS"', ("text/html", "shift_jis")),
        ("text/html;charset=", ("text/html", None)),
        ("", ("", None)),
        ("text/html; boundary=x; charset=gbk; charset=utf-8", ("text/html", "gbk")),
    ],
)
def test_media_type_and_charset(header: str, parsed: tuple):
    assert media_type(header) == parsed
