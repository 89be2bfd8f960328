import { afterAll, describe, expect, it } from 'vitest';

import { ParserPool } from '../../parser-pool.ts';
import { failureCode, read, texts } from '../../../../test/support/documents/read.ts';

const pool = new ParserPool({ size: 1 });
afterAll(() => pool.close());

const url = 'https://shop.example/hours';
const page = `<!doctype html><html><head><title>Opening hours – Shop</title><script>var a = "<p>no</p>";</script></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/x">Other things</a></li></ul></nav>
<main><h1>Opening hours</h1>
<p>We are open from nine to five on all days of the week, except on Fridays, when we open at noon and close at eight.</p>
<h2>Prices</h2>
<table><thead><tr><th>Item</th><th>Price</th></tr></thead><tbody><tr><td rowspan="2">Tea</td><td>3</td></tr><tr><td>4 <b>large</b></td></tr></tbody></table>
<ul><li>Milk is <em>free</em></li><li>Sugar too</li></ul>
<pre>first
  second</pre>
<blockquote><p>The best tea in town.</p></blockquote>
<h2>How to find us</h2><p>Behind the station, second door on the left. Ring twice.</p>
</main><footer>© Shop, all rights reserved, imprint, privacy</footer></body></html>`;

describe('web pages', () => {
  it('keeps the article with its headings, tables and lists, and leaves menus out', async () => {
    const { blocks, document } = await read(pool, { content: page, extension: 'html', url });
    const title = 'Opening hours – Shop';
    expect(document).toEqual({ title, warnings: [] });
    expect(blocks).toEqual([
      { kind: 'heading', text: title, headingPath: [title], url },
      { kind: 'paragraph', text: expect.stringMatching(/^We are open .* at eight\.$/u), headingPath: [title], url },
      { kind: 'heading', text: 'Prices', headingPath: [title, 'Prices'], url },
      {
        kind: 'table',
        header: ['Item', 'Price'],
        rows: [
          ['Tea', '3'],
          ['Tea', '4 large'],
        ],
        firstRow: 1,
        headingPath: [title, 'Prices'],
        url,
      },
      { kind: 'listItem', text: 'Milk is free', headingPath: [title, 'Prices'], url },
      { kind: 'listItem', text: 'Sugar too', headingPath: [title, 'Prices'], url },
      { kind: 'code', text: 'first\n  second', headingPath: [title, 'Prices'], url },
      { kind: 'quote', text: 'The best tea in town.', headingPath: [title, 'Prices'], url },
      { kind: 'heading', text: 'How to find us', headingPath: [title, 'How to find us'], url },
      { kind: 'paragraph', text: 'Behind the station, second door on the left. Ring twice.', headingPath: [title, 'How to find us'], url },
    ]);
  });

  it.each([
    [
      'the last column',
      '<tr><td>Basic<td>1<td rowspan=2>10 EUR<tr><td>Plus<td>5<tr><td>Pro<td>50<td>99 EUR',
      ['Basic | 1 | 10 EUR', 'Plus | 5 | 10 EUR', 'Pro | 50 | 99 EUR'],
    ],
    [
      'the last columns, up to the end of the table',
      '<tr><td>Basic<td rowspan=3>1<td rowspan=3>10 EUR<tr><td>Plus<tr><td>Pro',
      ['Basic | 1 | 10 EUR', 'Plus | 1 | 10 EUR', 'Pro | 1 | 10 EUR'],
    ],
    [
      'a column beyond those of a short row',
      '<tr><td>Basic<td>1<td rowspan=2>10 EUR<tr><td>Plus<tr><td>Pro<td>50<td>99 EUR',
      ['Basic | 1 | 10 EUR', 'Plus |  | 10 EUR', 'Pro | 50 | 99 EUR'],
    ],
    [
      'all columns',
      '<tr><td rowspan=2>Basic<td rowspan=2>1<td rowspan=2>10 EUR<tr><tr><td>Pro<td>50<td>99 EUR',
      ['Basic | 1 | 10 EUR', 'Pro | 50 | 99 EUR'],
    ],
  ])('leaves a cell that spans rows in its rows: %s', async (_, rows, expected) => {
    const content = `<title>Plans</title><table><tr><th>Plan<th>Users<th>Price${rows}</table>`;
    const { blocks } = await read(pool, { content, extension: 'html' });
    expect(texts(blocks)).toEqual(['Plans', ...expected]);
  });

  it.each([
    ['Shipping and Returns - Acme', ['Shipping and Returns', 'Shipping', 'Returns'], ['Shipping', 'Returns']],
    ['Acme | Shipping and Returns', ['Shipping and Returns', 'Acme'], ['Acme']],
    ['Shipping and Returns: Acme', ['Shipping', 'Returns', 'Acme'], ['Shipping', 'Returns', 'Acme']],
    ['Shipping and Returns - Acme', ['Delivery', 'Returns'], ['Delivery', 'Returns']],
    ['Returns', ['Returns', 'Returns'], ['Returns']],
  ])('leaves out only a first heading that repeats the title: %s %j', async (pageTitle, headings, expected) => {
    const sections = headings.map((heading, at) => `<h2>${heading}</h2><p>Text ${at}.</p>`).join('');
    const { blocks } = await read(pool, { content: `<title>${pageTitle}</title><body>${sections}`, extension: 'html' });
    expect(texts(blocks.filter(({ kind }) => kind === 'heading'))).toEqual([pageTitle, ...expected]);
  });

  it('takes a line break in a heading for a space', async () => {
    const content = '<title>Help</title><body><h2>Opening<br>hours</h2><p>From nine<br>to five.</p>';
    expect((await read(pool, { content, extension: 'html' })).blocks).toEqual([
      { kind: 'heading', text: 'Help', headingPath: ['Help'] },
      { kind: 'heading', text: 'Opening hours', headingPath: ['Help', 'Opening hours'] },
      { kind: 'paragraph', text: 'From nine', headingPath: ['Help', 'Opening hours'] },
      { kind: 'paragraph', text: 'to five.', headingPath: ['Help', 'Opening hours'] },
    ]);
    const untitled = await read(pool, { content: '<body><h1>Opening<br>hours</h1><p>From nine to five.</p>', extension: 'html' });
    expect(untitled.document.title).toBe('Opening hours');
    expect(texts(untitled.blocks)).toEqual(['Opening hours', 'From nine to five.']);
  });

  it('puts the caption of a table before it', async () => {
    const content =
      '<title>Plans</title><table><caption>Prices\n<b>per month</b><br>in EUR</caption><tr><th>Plan<th>Price<tr><td>Basic<td>10<br>20</table>';
    expect((await read(pool, { content, extension: 'html' })).blocks.slice(1)).toEqual([
      { kind: 'paragraph', text: 'Prices per month in EUR', headingPath: ['Plans'] },
      { kind: 'table', header: ['Plan', 'Price'], rows: [['Basic', '10 20']], firstRow: 1, headingPath: ['Plans'] },
    ]);
  });

  it('reads the charset from the response or the page', async () => {
    const latin = (meta: string): Buffer => Buffer.from(`<html><head>${meta}</head><body><p>Caf\xe9 \x80</p></body></html>`, 'latin1');
    expect(
      texts((await read(pool, { content: latin(''), extension: 'html', contentType: 'text/html; charset="windows-1252"' })).blocks),
    ).toEqual(['Café €']);
    expect(texts((await read(pool, { content: latin('<meta charset=iso-8859-1>'), extension: 'html' })).blocks)).toEqual(['Café €']);
    for (const name of ['utf-16', 'unicode']) {
      const html = `<html><head><meta charset=${name}></head><body><p>We open at nine.</p></body></html>`;
      const even = html.padEnd(html.length + (html.length % 2));
      expect(texts((await read(pool, { content: even, extension: 'html' })).blocks)).toEqual(['We open at nine.']);
    }
  });

  it('reads pages that are no article', async () => {
    const links = Array.from({ length: 30 }, (_, at) => `<li><a href="/${at}">Product number ${at}</a></li>`).join('');
    const { blocks } = await read(pool, { content: `<title>Products</title><body><ul>${links}</ul>`, extension: 'html' });
    expect(blocks).toHaveLength(31);
  });

  it.each([
    ['too_large', '<div>'.repeat(20_000)],
    ['too_large', '<table><tr><td>'.repeat(20_000)],
    ['too_large', `<p>${'word '.repeat(1_100_000)}`],
    ['empty_document', '<html><body><script>document.write("x")</script></body></html>'],
  ] as const)('fails with %s', async (code, content) => {
    expect(await failureCode(pool, { content, extension: 'html' })).toBe(code);
  });
});
