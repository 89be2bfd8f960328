import { afterAll, describe, expect, it } from 'vitest';

import { ParserPool } from '../../parser-pool.ts';
import { STRUCK_LEFT_OUT } from '../../left-out.ts';
import { outcomeOf, read, texts } from '../../../../test/support/documents/read.ts';

const pool = new ParserPool({ size: 1 });
afterAll(() => pool.close());

const PROSE = '<p>We have repaired bicycles in the old town since 1984 and know every model on the market.</p>'.repeat(6);

/** Returns the page's texts behind its prose. */
async function said(html: string): Promise<readonly string[]> {
  const content = `<!doctype html><title>Bike Barn</title><body><main>${PROSE}${html}</main></body>`;
  return texts((await read(pool, { content, extension: 'html' })).blocks).slice(7);
}

describe('what a click opens on a page', () => {
  it('is read with the question that opens it, as Bootstrap writes accordions', async () => {
    const item = (question: string, answer: string): string =>
      `<div class="accordion-item"><h2 class="accordion-header"><button class="accordion-button collapsed" data-bs-toggle="collapse">${question}</button></h2><div class="accordion-collapse collapse"><div class="accordion-body">${answer}</div></div></div>`;
    const content = `<title>FAQ</title><body><main><h1>Questions</h1>${item('Do you rent bikes?', 'Yes, from 12 euros a day.')}${item('Do you buy bikes?', 'No.')}</main>`;
    const { blocks } = await read(pool, { content, extension: 'html' });
    expect(blocks.filter(({ kind }) => kind === 'paragraph')).toEqual([
      { kind: 'paragraph', text: 'Yes, from 12 euros a day.', headingPath: ['FAQ', 'Questions', 'Do you rent bikes?'] },
      { kind: 'paragraph', text: 'No.', headingPath: ['FAQ', 'Questions', 'Do you buy bikes?'] },
    ]);
  });

  it.each([
    [
      'a panel named by its button',
      '<h3><button aria-expanded=false aria-controls=a>Rent?</button></h3><div id=a role=region hidden>From 12 euros.</div>',
      ['Rent?', 'From 12 euros.'],
    ],
    [
      'a panel hidden from readers',
      '<h3><button aria-expanded=false>E-bikes?</button></h3><div aria-hidden="true" class="panel">Only Bosch.</div>',
      ['E-bikes?', 'Only Bosch.'],
    ],
    [
      'a panel under a heading',
      '<h3>Parking?</h3><div style="color: red; display: none">Behind the house.</div>',
      ['Parking?', 'Behind the house.'],
    ],
    [
      'a button without a heading',
      '<button class="accordion">Dogs?</button><div class="panel" style="display:none">Yes.</div>',
      ['Dogs?', 'Yes.'],
    ],
    [
      'tabs',
      '<div role=tablist><a role=tab href="#m">Monthly</a><a role=tab href="#y">Yearly</a></div><div id=m role=tabpanel>9 euros</div><div id=y role=tabpanel hidden>90 euros</div>',
      ['Monthly', '9 euros', 'Yearly', '90 euros'],
    ],
    [
      'the rest of a text',
      '<p>Bring a lock.</p><button aria-expanded=false aria-controls=r>Read more</button><div id=r hidden>And a helmet.</div>',
      ['Bring a lock.', 'And a helmet.'],
    ],
    ['details', '<details><summary>Cards?</summary><p>All but American Express.</p></details>', ['Cards?', 'All but American Express.']],
  ])('is read: %s', async (_, html, expected) => {
    expect(await said(html)).toEqual(expected);
  });

  it('is a section that ends with it', async () => {
    const panel = (id: string, text: string): string => `<div id=${id} role=tabpanel>${text}</div>`;
    const content = `<title>Rates</title><main><h2>Rooms</h2><button role=tab aria-controls=s>Summer</button><button role=tab aria-controls=w>Winter</button>${panel('s', '90 euros')}${panel('w', '60 euros')}<p>With breakfast.</p></main>`;
    const { blocks } = await read(pool, { content, extension: 'html' });
    expect(blocks.filter(({ kind }) => kind === 'paragraph')).toMatchObject([
      { text: '90 euros', headingPath: ['Rates', 'Rooms', 'Summer'] },
      { text: '60 euros', headingPath: ['Rates', 'Rooms', 'Winter'] },
      { text: 'With breakfast.', headingPath: ['Rates', 'Rooms'] },
    ]);
  });

  it('is left out where it is no content: menus, dialogs, cookies, icons', async () => {
    const html =
      '<div class="lang-dropdown"><ul><li><a href=/de>Shop Deutsch</a></ul></div><ul class=menu><li>Soup 5 euros</ul><button aria-expanded=false aria-controls=n>Menu</button><ul id=n class=menu hidden><li>Shop</ul><div role=dialog hidden>Log in</div><div class="cookie-panel" style="display:none">We use cookies.</div><div id="cookie-notice">We use cookies here, too.</div><dialog>Log in again</dialog><p>Open <i aria-hidden=true>schedule</i>daily.</p><button>Send</button>';
    expect(await said(html)).not.toEqual(expect.arrayContaining([expect.stringMatching(/Shop|Log in|cookies|schedule|Send/u)]));
    expect(await said(html)).toContain('Open daily.');
  });
});

it('is read whatever the class of the whole page says of menus and cookies', async () => {
  const links = ['Pumps', 'Tubes', 'Bells'].map((name) => `<li><a href=/x>${name}</a>`).join('');
  const content = `<title>Parts</title><body class="nav-open gdpr"><div id="nav-wrapper" class="cookie-consent"><h1>All parts</h1><ul>${links}</ul></div>`;
  expect(texts((await read(pool, { content, extension: 'html' })).blocks)).toEqual(['Parts', 'All parts', 'Pumps', 'Tubes', 'Bells']);
});

describe('marks that carry meaning', () => {
  it('keep numbers apart from what is raised, and leave out what is struck through', async () => {
    const content = `<title>Prices</title><body><main><p>Sale: <s>120 euros</s> <b>99 euros</b>. Tour: <span class="price old-price">80 €</span> <ins>60 €</ins>. Bell: <span style="text-decoration: line-through">9 €</span> 7 €.</p><p>Helmet 12<sup>99</sup> €. Room 20 m<sup>2</sup>. Deposit 320<sup><a href="#f">1</a></sup> euros.</p><p class="headline">A headline for <span class="regular-price">5 €</span>.</p></main>`;
    const { blocks, document } = await read(pool, { content, extension: 'html' });
    expect(texts(blocks)).toEqual([
      'Prices',
      'Sale: 99 euros. Tour: 60 €. Bell: 7 €.',
      'Helmet 12.99 €. Room 20 m². Deposit 320¹ euros.',
      'A headline for 5 €.',
    ]);
    expect(document.warnings).toEqual([STRUCK_LEFT_OUT]);
  });

  it.each([
    [
      'numbers of lists',
      '<ol start=3><li>Press reset<li><p>Wait</p><p>a minute</p><li value=9>Done</ol>',
      ['3. Press reset', '4. Wait', 'a minute', '9. Done'],
    ],
    ['letters of lists', '<ol type=a><li>One<ul><li>Inner</ul><li>Two</ol>', ['a. One', 'Inner', 'b. Two']],
    ['check boxes', '<ul><li><input type=checkbox checked> Breakfast<li><input type=checkbox> Parking</ul>', ['☑ Breakfast', '☐ Parking']],
    [
      'choices',
      '<form><label>Size <select><option value="">Choose<option>Small 10 euros<option>Large 15 euros</select></label></form>',
      ['Size Small 10 euros; Large 15 euros'],
    ],
    [
      'pictures in cells',
      '<table><tr><th>Feature<th>Basic<th>Pro<tr><td>Lock<td><img alt=yes src=x><td><img alt="img_1.png" src=x><tr><td>Insurance<td><i aria-label="not included"></i><td>✓</table>',
      ['Lock | yes | ', 'Insurance | not included | ✓'],
    ],
  ])('are kept: %s', async (_, html, expected) => {
    expect(await said(html)).toEqual(expected);
  });

  it('name columns by all rows of their header, and leave a title above the table', async () => {
    const html = `<title>Rates</title><table><thead><tr><th colspan=5>Sales in thousands</th></tr><tr><th rowspan=2>Region</th><th colspan=2>2024</th><th colspan=2>2025</th></tr><tr><th>Q1</th><th>Q2</th><th>Q1</th><th>Q2</th></tr></thead><tr><td>North</td><td>11</td><td>12</td><td colspan=2>closed</td></tr></table>`;
    expect((await read(pool, { content: html, extension: 'html' })).blocks.slice(1)).toEqual([
      { kind: 'paragraph', text: 'Sales in thousands', headingPath: ['Rates'] },
      {
        kind: 'table',
        header: ['Region', '2024 Q1', '2024 Q2', '2025 Q1', '2025 Q2'],
        rows: [['North', '11', '12', 'closed', 'closed']],
        firstRow: 1,
        headingPath: ['Rates'],
      },
    ]);
  });
});

describe('what stands around the main part of a page', () => {
  const page = (around: string): string =>
    `<title>Contact</title><body><main><h1>Shop</h1>${PROSE}<h2>Team</h2><p>Ada and Bob.</p></main>${around}</body>`;

  it('is read where it says when the shop is open, or how to reach it', async () => {
    const around =
      '<header><nav><a href=/>Home</a></nav><p>Call <a href="tel:030">030 555 1234</a></p></header><aside><h2>Opening hours</h2><p>Mon–Fri 9–18</p></aside><footer><ul><li><a href=/i>Imprint</a></ul><address>Main Street 7</address></footer>';
    const { blocks } = await read(pool, { content: page(around), extension: 'html' });
    expect(blocks.slice(-4)).toEqual([
      { kind: 'paragraph', text: 'Call 030 555 1234', headingPath: ['Contact'], isAside: true },
      { kind: 'heading', text: 'Opening hours', headingPath: ['Contact', 'Opening hours'], isAside: true },
      { kind: 'paragraph', text: 'Mon–Fri 9–18', headingPath: ['Contact', 'Opening hours'], isAside: true },
      { kind: 'paragraph', text: 'Main Street 7', headingPath: ['Contact'], isAside: true },
    ]);
  });

  it('is left out otherwise, but for notes in the main part', async () => {
    const around = '<aside><p>Read our blog!</p></aside><footer>© 2019–2024 Shop. All rights reserved.</footer>';
    const { blocks } = await read(pool, {
      content: page(around).replace('<h2>', '<aside>Children are free.</aside><h2>'),
      extension: 'html',
    });
    expect(texts(blocks).slice(-3)).toEqual(['Children are free.', 'Team', 'Ada and Bob.']);
  });
});

describe('a page of almost nothing', () => {
  const scripts = '<script src=app.js></script>';

  it('is read from what it tells search engines', async () => {
    const question = {
      '@type': 'Question',
      name: 'Do you deliver?',
      acceptedAnswer: { '@type': 'Answer', text: 'Yes, for <b>5 euros</b>.' },
    };
    const data = JSON.stringify({ '@graph': [{ '@type': 'FAQPage', mainEntity: [question] }] });
    const content = `<title>App</title><script type="application/ld+json">${data}</script><body><div id=root></div>${scripts}`;
    expect(texts((await read(pool, { content, extension: 'html' })).blocks)).toEqual(['App', 'Do you deliver?', 'Yes, for 5 euros.']);
    const shown = content.replace('<div id=root></div>', '<h2>Do you deliver?</h2><p>Yes.</p>');
    expect(texts((await read(pool, { content: shown, extension: 'html' })).blocks)).toEqual(['App', 'Do you deliver?', 'Yes.']);
  });

  it.each([
    ['', /scripts run/u],
    ['<p>Loading…</p>', /scripts run/u],
    ['<p>You need to enable JavaScript to run this app.</p>', /scripts run/u],
  ])('fails with the cure: %j', async (body, cure) => {
    const outcome = await outcomeOf(pool, { content: `<title>App</title><body>${body}${scripts}</body>`, extension: 'html' });
    expect(JSON.parse(outcome)).toEqual({ code: 'empty_document', message: expect.stringMatching(cure) });
  });

  it('fails where it sends browsers elsewhere, or has a title only', async () => {
    for (const body of ['<p>Redirecting…</p>', ''])
      expect(JSON.parse(await outcomeOf(pool, { content: `<title>Shop</title><body>${body}`, extension: 'html' }))).toMatchObject({
        code: 'empty_document',
        message: expect.stringMatching(/in a browser/u),
      });
    expect(await said('<p>Loading dock open from 9 to 5.</p>')).toEqual(['Loading dock open from 9 to 5.']);
    const short = await read(pool, { content: '<title>Shop</title><p>Laden geöffnet von 9 bis 18 Uhr.</p>', extension: 'html' });
    expect(texts(short.blocks)).toEqual(['Shop', 'Laden geöffnet von 9 bis 18 Uhr.']);
  });

  it('is read with a warning where it is large and says little', async () => {
    const content = `<title>App</title><body><p>Our shop.</p><div data-state="${'x'.repeat(20_000)}"></div>${scripts}`;
    expect((await read(pool, { content, extension: 'html' })).document.warnings).toEqual([expect.stringMatching(/scripts run/u)]);
  });
});

it('reads UTF-8 as what it is, whatever the response says', async () => {
  const read1 = (text: string | Buffer, charset: string) =>
    read(pool, { content: text, extension: 'html', contentType: `text/html; charset=${charset}` }).then(({ blocks }) => texts(blocks));
  expect(await read1('<p>Täglich von 9–18 Uhr</p>', 'iso-8859-1')).toEqual(['Täglich von 9–18 Uhr']);
  expect(await read1(Buffer.from('<p>T\u00e4glich</p>', 'latin1'), 'iso-8859-1')).toEqual(['Täglich']);
  expect(await read1(Buffer.from('3c703ec1aacda83c2f703e', 'hex'), 'gbk')).toEqual(['联通']);
});
