from sufficit.tools.retrievers.corpora.html import html_text


def test_blocks_are_lines_and_inline_elements_are_not():
    html = """<html><head><title>A &amp; B</title><style>p{}</style></head><body><nav>menu</nav>
    <h1>Head</h1><p>One <b>two</b>, three<br>four</p>tail<script>alert(1)</script>
    <ul><li>a<li>b</ul><table><tr><td>1<td>2<tr><td>3</table></body>"""
    assert html_text(html) == ("A & B", "Head\n\nOne two, three\nfour\n\ntail\n\na\nb\n\n1 2\n3")


def test_main_is_preferred_and_a_heading_stands_in_for_a_title():
    assert html_text("<header>site</header><main><h1>Head</h1>text</main>") == ("Head", "Head\n\ntext")


def test_broken_and_empty_pages():
    assert html_text("") == ("", "")
    assert html_text("plain & simple < 3") == ("", "plain & simple < 3")


def test_nesting_without_end_is_refused_rather_than_parsed_for_minutes():
    assert html_text("<div>" * 200_000) is None
    assert html_text("<p>x" * 50_000) is not None
