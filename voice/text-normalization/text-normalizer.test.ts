import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { NormalizationKind, NormalizationOptions } from './rules/index.ts';
import { TextNormalizer } from './text-normalizer.ts';

function spoken(text: string, options: Partial<NormalizationOptions> = {}): string {
  return new TextNormalizer({ language: 'en-US', ...options }).spokenOf(text);
}

type Example = readonly [written: string, expected: string];

describe('Markdown', () => {
  it.each<Example>([
    ['This is **bold**, _this_ and ***that*** too.', 'This is bold, this and that too.'],
    ['~~Old price~~ New price', 'formerly Old price, New price'],
    ['Was ~~$5~~, is $4.', 'Was formerly 5 dollars, is 4 dollars.'],
    ['# Opening hours\nWe open at nine.', 'Opening hours. We open at nine.'],
    ['> They said so.\n> And more', 'They said so. And more'],
    ['- One\n- Two\n* [x] Three\n1. Four\n2) Five', 'One. Two. Three. 1. Four. 2) Five'],
    ['You need:\n- a pen;\n- paper!\n', 'You need: a pen; paper!'],
    ['Sat: 10:00-14:00\nSun: closed', "Sat: 10 o'clock to 2 PM. Sun: closed"],
    ['[Read more](https://a.dev/b?c=d) or [less][1].', 'Read more or less.'],
    ['[![A bicycle](a.png)](b.html) is here.', 'A bicycle is here.'],
    ['It is so.[^1] And that.\n[^1]: Because.', 'It is so. And that. Because.'],
    ['Run `npm install` or ``a `b` c``.', 'Run npm install or a `b` c.'],
    ['```js\nconst a = 1;\n```\nThat is all.', 'const a = 1; That is all.'],
    ['One.\n\n---\n\nTwo.', 'One. Two.'],
    ['It costs \\*nothing\\*.', 'It costs *nothing*.'],
    ['*not closed and [stray and `open', 'not closed and [stray and open'],
    ['这是*重点*。', '这是重点。'],
    ['一\n二\n', '一。 二。'],
  ])('%j is said as %j', (written, expected) => expect(spoken(written)).toBe(expected));

  it.each<Example>([
    ['The method __init__ and snake_case_name.', 'The method __init__ and snake_case_name.'],
    ['2 * 3 = 6, 2*3 and 2**3.', '2 * 3 = 6, 2*3 and 2**3.'],
    ['Dial *67 first.', 'Dial *67 first.'],
    ['So \\(x^2 + y\\) it is.', 'So \\(x^2 + y\\) it is.'],
    ['{"a": 1, "b_c": [2, 3]}', '{"a": 1, "b_c": [2, 3]}'],
    ['Press <Enter> if a < b.', 'Press <Enter> if a < b.'],
  ])('%j stays as it is', (written, expected) => expect(spoken(written)).toBe(expected));

  it('says a struck-out word in each language', () => {
    const said = ['de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'sv', 'da', 'ja'].map((language) => spoken('~~A~~ B', { language }));
    expect(said).toEqual(
      ['vorher', 'avant', 'antes', 'prima', 'antes', 'voorheen', 'wcześniej', 'tidigare', 'tidligere']
        .map((word) => `${word} A, B`)
        .concat('A, B'),
    );
  });
});

describe('tables', () => {
  const table = '| Size | **Price** |\n|---|:---:|\n| Small | $4 |\n| Large | |\n| | $9 |\n\nThat is all.';

  it('are said row by row with the words of the head', () => {
    expect(spoken(table)).toBe('Size: Small, Price: 4 dollars. Size: Large. Price: 9 dollars. That is all.');
  });

  it('are said so as they come', () => {
    const answer = new TextNormalizer({ language: 'en' }).answer();
    const sentences = [...Array.from(table).flatMap((character) => answer.push(character)), ...answer.end()];
    expect(sentences.map((sentence) => sentence.spoken).join(' ')).toBe(spoken(table));
    expect(sentences.map(({ written }) => written).join('')).toBe(table);
  });

  it('without a head are said cell by cell', () => {
    expect(spoken('| Small | 4 |\n| Large | 5 |\n')).toBe('Small, 4. Large, 5.');
  });
});

describe('HTML, SSML and signs', () => {
  it.each<Example>([
    ['<speak>Hi <b>there</b><break time="1s"/> you</speak>', 'Hi there, you'],
    ['One<br>two<br/>three', 'One, two, three'],
    ['<ul><li>Tea</li><li>Coffee</li></ul>', 'Tea, Coffee'],
    ['You &amp; me, AT&amp;T, 1 &lt; 2&nbsp;&#8364;&#x21;', 'You and me, AT&T, 1 < 2 euros!'],
    ['a && b || c & d', 'a and b or c and d'],
    ['Settings → Network', 'Settings, Network'],
    ['well\u200Bness and Ｐａｒｌｅｙ １２', 'wellness and Parley 12'],
    ['<!-- not this -->This', 'This'],
    ['Mail <jane@example.com>', 'Mail jane at example dot com'],
  ])('%j is said as %j', (written, expected) => expect(spoken(written)).toBe(expected));

  it.each([
    ['de', 'A und B'],
    ['fr', 'A et B'],
    ['es', 'A y B'],
    ['it', 'A e B'],
    ['pt', 'A e B'],
    ['nl', 'A en B'],
    ['pl', 'A i B'],
    ['sv', 'A och B'],
    ['da', 'A og B'],
    ['ja', 'A & B'],
  ])('in %s & is said as %s', (language, expected) => expect(spoken('A & B', { language })).toBe(expected));
});

describe('emoji', () => {
  it.each<Example>([
    ['Great! 👍 I can help 🎉 with that 👍🏽.', 'Great! I can help with that.'],
    ['👋 Hello 🇦🇹 there 👩‍👩‍👧', 'Hello there'],
    ['Parley™ © 2026 #1', 'Parley™ © 2026 #1'],
    ['سلام می\u200Cخواهم', 'سلام می\u200Cخواهم'],
  ])('%j is said as %j', (written, expected) => expect(spoken(written)).toBe(expected));
});

describe('what has nothing to say', () => {
  it.each(['...', '👍', '---', '  ', '\n', '**', '', '!?', '🎉 🎉\n'])('%j is not spoken', (written) => {
    const answer = new TextNormalizer({ language: 'en' }).answer();
    const sentences = [...answer.push(written), ...answer.end()];
    expect(sentences.map((sentence) => sentence.spoken).join('')).toBe('');
    expect(sentences.map((sentence) => sentence.written).join('')).toBe(written);
  });

  it('goes with the sentence behind it, and alone at the end', () => {
    const answer = new TextNormalizer({ language: 'en' }).answer();
    const sentences = [...answer.push('---\nThat is all that there is.\n---\n'), ...answer.end()];
    expect(sentences.map(({ written, spoken: said }) => [written, said])).toEqual([
      ['---\nThat is all that there is.\n', 'That is all that there is.'],
      ['---\n', ''],
    ]);
  });
});

describe('money', () => {
  it.each([
    ['en-US', 'It is $4,200.50 or $1.', 'It is 4200 dollars and 50 cents or 1 dollar.'],
    ['en-US', '€19.99, £3.01, US$5, USD 7, 5 EUR', '19 euros and 99 cents, 3 pounds and 1 penny, 5 US dollars, 7 US dollars, 5 euros'],
    ['en-US', '$10-20 or 10–20 € a day', '10 to 20 dollars or 10 to 20 euros a day'],
    ['en-US', '$10-$20 a day', '10 dollars to 20 dollars a day'],
    ['en-US', '$5 more, $5$, A$5x, $5 hundred', '5 dollars more, $5$, A$5x, $5 hundred'],
    ['de-AT', 'Das kostet 19,99 € oder 4.200,50 € und 1 €.', 'Das kostet 19 Euro 99 oder 4200 Euro 50 und 1 Euro.'],
    ['de-DE', '5 $ für 3 Mio. €', '5 Dollar für 3 Millionen Euro'],
    ['fr-FR', 'Cela coûte 19,99 € ou 1\u202F200 €.', 'Cela coûte 19 euros 99 ou 1200 euros.'],
    ['es-ES', 'Cuesta 19,99 € o $5.', 'Cuesta 19 euros con 99 o 5 dólares.'],
    ['it-IT', 'Costa 19,99 € o $5.', 'Costa 19 euro e 99 o 5 dollari.'],
    ['pt-PT', 'Custa 19,99 €.', 'Custa 19 euros e 99.'],
    ['pt-BR', 'Custa R$ 19,90.', 'Custa 19 reais e 90.'],
    ['es-MX', 'Cuesta $19.50 o US$5.', 'Cuesta 19 pesos con 50 o 5 dólares estadounidenses.'],
    ['nl-NL', 'Het kost € 19,99 of $5.', 'Het kost 19 euro 99 of 5 dollar.'],
    ['pl-PL', 'To kosztuje 19,99 zł lub 2 zł.', 'To kosztuje 19 złotych 99 lub 2 złote.'],
    ['sv-SE', 'Det kostar 19,50 kr eller $5.', 'Det kostar 19 kronor och 50 eller 5 dollar.'],
    ['da-DK', 'Det koster 19,50 kr eller $5.', 'Det koster 19 kroner og 50 eller 5 dollar.'],
  ])('in %s: %j is said as %j', (language, written, expected) =>
    expect(spoken(written, { language }).toLowerCase()).toBe(expected.toLowerCase()),
  );
});

describe('money in thousands and more', () => {
  it.each([
    ['en-US', 'Now $5 million, or $1.5 billion.', 'Now 5 million dollars, or 1.5 billion dollars.'],
    [
      'en-US',
      '$5M, $2bn, $3k, $5-10 million, 3 million €',
      '5 million dollars, 2 billion dollars, 3 thousand dollars, 5 to 10 million dollars, 3 million euros',
    ],
    ['en-US', 'A $5 million-dollar house or $1500k', 'A $5 million-dollar house or $1500k'],
    ['de-DE', '1,5 Mio. € für 2 Mrd. € und $5 Millionen.', '1,5 Millionen Euro für 2 Milliarden Euro und 5 Millionen Dollar.'],
    ['de-DE', 'Für €5 Mio. im Jahr, 1 Mio. €', 'Für 5 Millionen Euro im Jahr, 1 Million Euro'],
    ['fr-FR', '5 millions € ou $2 milliards, 3 k€', "5 millions d'euros ou 2 milliards de dollars, 3 mille euros"],
    ['es-ES', '5 millones € o $3 mil', '5 millones de euros o 3 mil dólares'],
    ['it-IT', '5 milioni € o $2 miliardi', '5 milioni di euro o 2 miliardi di dollari'],
    ['pt-BR', 'R$ 5 milhões ou R$ 3 mil', '5 milhões de reais ou 3 mil reais'],
    ['nl-NL', '€ 5 miljoen of $2 miljard', '5 miljoen euro of 2 miljard dollar'],
    ['pl-PL', '5 mln zł, 2 mld zł lub 3 tys. zł', '5 milionów złotych, 2 miliardy złotych lub 3 tysiące złotych'],
    ['sv-SE', '5 miljoner kr eller $2 miljarder', '5 miljoner kronor eller 2 miljarder dollar'],
    ['da-DK', '5 mio. kr eller $2 milliarder', '5 millioner kroner eller 2 milliarder dollar'],
    ['ja-JP', '$5 million', '$5 million'],
  ])('in %s: %j is said as %j', (language, written, expected) =>
    expect(spoken(written, { language }).toLowerCase()).toBe(expected.toLowerCase()),
  );
});

describe('stage directions', () => {
  it.each([
    ['en-US', 'Ha! (laughs) That is funny (chuckles softly), [sighs] is it?', 'Ha! That is funny, is it?'],
    ['en-US', '(Clears throat) Hello. (pause)', 'Hello.'],
    [
      'en-US',
      'Press it (pause button), he (laughs at it) and [laughs](https://a.dev).',
      'Press it (pause button), he (laughs at it) and laughs.',
    ],
    ['de-DE', 'Ja (lacht), gern. (räuspert sich) Also.', 'Ja, gern. Also.'],
    ['fr-FR', 'Oui (rires), bien sûr. (soupire) Alors.', 'Oui, bien sûr. Alors.'],
    ['es-ES', 'Sí (se ríe), claro. (suspira) Bueno.', 'Sí, claro. Bueno.'],
    ['it-IT', 'Sì (ride), certo. (sospira) Allora.', 'Sì, certo. Allora.'],
    ['pt-PT', 'Sim (risos), claro. (suspira) Então.', 'Sim, claro. Então.'],
    ['nl-NL', 'Ja (lacht), graag. (zucht) Nou.', 'Ja, graag. Nou.'],
    ['pl-PL', 'Tak (śmieje się), chętnie. (wzdycha) No.', 'Tak, chętnie. No.'],
    ['sv-SE', 'Ja (skrattar), gärna. (suckar) Jo.', 'Ja, gärna. Jo.'],
    ['da-DK', 'Ja (griner), gerne. (sukker) Tja.', 'Ja, gerne. Tja.'],
    ['ja-JP', 'はい (laughs)。', 'はい (laughs)。'],
  ])('in %s: %j is said as %j', (language, written, expected) => expect(spoken(written, { language })).toBe(expected));
});

describe('dates', () => {
  it.each([
    ['en-US', 'On 2026-12-03 or 12/25/2026.', 'On December 3, 2026 or December 25, 2026.'],
    ['en-US', '2026-12-03T14:30:00Z it is', 'December 3, 2026, 2:30 PM it is'],
    ['en-GB', 'On 03/12/2026.', 'On 3 December 2026.'],
    ['de-DE', 'Am 3.12.2026 oder am 03.12.26.', 'Am 3. Dezember 2026 oder am 3. Dezember 2026.'],
    ['fr-FR', 'Le 03/12/2026.', 'Le 3 décembre 2026.'],
    ['es-ES', 'El 3/12/2026.', 'El 3 de diciembre de 2026.'],
    ['it-IT', 'Il 3/12/2026.', 'Il 3 dicembre 2026.'],
    ['pt-PT', 'A 03/12/2026.', 'A 3 de dezembro de 2026.'],
    ['nl-NL', 'Op 3-12-2026.', 'Op 3 december 2026.'],
    ['pl-PL', 'Dnia 3.12.2026.', 'Dnia 3 grudnia 2026.'],
    ['sv-SE', 'Den 2026-12-03.', 'Den 3 december 2026.'],
    ['da-DK', 'Den 3.12.2026.', 'Den 3. december 2026.'],
    ['en-US', 'Version 1.2.3, 99/99/2026, 2026-13-01, 12-34-56', 'Version 1.2.3, 99/99/2026, 2026-13-01, 12-34-56'],
  ])('in %s: %j is said as %j', (language, written, expected) => expect(spoken(written, { language })).toBe(expected));
});

describe('times', () => {
  it.each([
    ['en-US', 'At 14:00, 10:00, 9:30, 0:15 or 9am.', "At 2 PM, 10 o'clock, 9:30, 12:15 AM or 9 AM."],
    ['en-US', 'From 9:30 a.m. to 5:00 p.m. each day', 'From 9:30 AM to 5 PM each day'],
    ['de-DE', 'Um 14:30 Uhr oder 9:00.', 'Um 14 Uhr 30 oder 9 Uhr.'],
    ['fr-FR', 'À 14h30, 9 h ou 1:00.', 'À 14 heures 30, 9 heures ou 1 heure.'],
    ['pt-PT', 'Às 14h30 ou 9:00.', 'Às 14 horas e 30 ou 9 horas.'],
    ['nl-NL', 'Om 14:30 uur.', 'Om 14 uur 30.'],
    ['es-ES', 'A las 14:30.', 'A las 14:30.'],
    ['en-US', 'It is 2:1, 10:00:00 or 99:99.', 'It is 2:1, 10:00:00 or 99:99.'],
  ])('in %s: %j is said as %j', (language, written, expected) => expect(spoken(written, { language })).toBe(expected));
});

describe('phone numbers and other long ones', () => {
  it.each([
    ['en-US', 'Call +43 1 234 5678 now.', 'Call plus 4 3, 1, 2 3 4, 5 6 7 8 now.'],
    ['en-US', 'Call (555) 123-4567 or 1-800-555-0123.', 'Call 5 5 5, 1 2 3, 4 5 6 7 or 1, 8 0 0, 5 5 5, 0 1 2 3.'],
    ['en-US', 'Call 555-1234.', 'Call 5 5 5, 1 2 3 4.'],
    ['en-US', 'Card 4111 1111 1111 1111', 'Card 4 1 1 1, 1 1 1 1, 1 1 1 1, 1 1 1 1'],
    ['de-AT', 'Rufen Sie 0664/123 45 67 oder +4366412345.', 'Rufen Sie 0 6 6 4, 1 2 3, 4 5, 6 7 oder plus 4 3 6, 6 4 1, 2 3 4 5.'],
    ['de-AT', 'AT61 1904 3002 3457 3201', 'A T 6 1, 1 9 0 4, 3 0 0 2, 3 4 5 7, 3 2 0 1'],
    ['fr-FR', 'Appelez le 06 12 34 56 78.', 'Appelez le 0 6, 1 2, 3 4, 5 6, 7 8.'],
    ['es-ES', 'Llame al +34 612 345 678.', 'Llame al más 3 4, 6 1 2, 3 4 5, 6 7 8.'],
    ['it-IT', '+39 06 1234567', 'più 3 9, 0 6, 1 2 3, 4 5 6 7'],
    ['pt-PT', '+351 912 345 678', 'mais 3 5 1, 9 1 2, 3 4 5, 6 7 8'],
    ['nl-NL', '020 123 4567', '0 2 0, 1 2 3, 4 5 6 7'],
    ['pl-PL', '+48 601 234 567', 'plus 4 8, 6 0 1, 2 3 4, 5 6 7'],
    ['sv-SE', '08-123 456 78', '0 8, 1 2 3, 4 5 6, 7 8'],
    ['da-DK', '+45 12 34 56 78', 'plus 4 5, 1 2, 3 4, 5 6, 7 8'],
    ['en-US', '1000000000 people, 0.1234567 or 12345', '1000000000 people, 0.1234567 or 12345'],
  ])('in %s: %j is said as %j', (language, written, expected) => expect(spoken(written, { language })).toBe(expected));
});

describe('addresses', () => {
  it.each([
    ['en-US', 'Write to jane.doe_x@example.com.', 'Write to jane dot doe underscore x at example dot com.'],
    [
      'en-US',
      'See https://parley.dev/path/to?x=1&y=2#top!',
      'See parley dot dev slash path slash to question mark x equals 1 and y equals 2 hash top!',
    ],
    ['en-US', 'See parley.dev, or Node.js and e.g.this', 'See parley dot dev, or Node.js and e.g.this'],
    ['de-DE', 'info@a-b.de', 'info at a Bindestrich b Punkt de'],
    ['fr-FR', 'info@a-b.fr', 'info arobase a tiret b point fr'],
    ['es-ES', 'info@a-b.es', 'info arroba a guion b punto es'],
    ['it-IT', 'info@a-b.it', 'info chiocciola a trattino b punto it'],
    ['pt-PT', 'info@a-b.pt', 'info arroba a hífen b ponto pt'],
    ['nl-NL', 'info@a-b.nl', 'info apenstaartje a streepje b punt nl'],
    ['pl-PL', 'info@a-b.pl', 'info małpa a myślnik b kropka pl'],
    ['sv-SE', 'info@a-b.se', 'info snabel-a a bindestreck b punkt se'],
    ['da-DK', 'info@a-b.dk', 'info snabel-a a bindestreg b punktum dk'],
    ['ja-JP', 'info@a-b.jp', 'info@a-b.jp'],
  ])('in %s: %j is said as %j', (language, written, expected) => expect(spoken(written, { language })).toBe(expected));
});

describe('units and ranges', () => {
  it.each([
    [
      'en-US',
      '19% of 5 km, 1 kg, -5 °C, 80 m², 100 km/h',
      '19 percent of 5 kilometers, 1 kilogram, -5 degrees Celsius, 80 square meters, 100 kilometers per hour',
    ],
    ['en-US', '1,500 km or 2.5 l', '1500 kilometers or 2.5 liters'],
    ['en-US', '10-14 days, 2024–2026, 5-10 km, COVID-19, 9-5', '10 to 14 days, 2024 to 2026, 5 to 10 kilometers, COVID-19, 9-5'],
    ['de-DE', '5 km, 80 m², 10–14 Tage, 2,5 °C', '5 Kilometer, 80 Quadratmeter, 10 bis 14 Tage, 2,5 Grad Celsius'],
    ['fr-FR', '5 km, 1 m², 80 m², 10-14 jours', '5 kilomètres, 1 mètre carré, 80 mètres carrés, 10 à 14 jours'],
    ['es-ES', '5 km, 80 m³, 10-14 días', '5 kilómetros, 80 metros cúbicos, 10 a 14 días'],
    ['it-IT', '5 km, 80 m², 10-14 giorni', '5 chilometri, 80 metri quadrati, 10 a 14 giorni'],
    ['pt-PT', '5 km, 80 m², 10-14 dias', '5 quilómetros, 80 metros quadrados, 10 a 14 dias'],
    ['nl-NL', '5 km, 80 m², 10-14 dagen', '5 kilometer, 80 vierkante meter, 10 tot 14 dagen'],
    ['pl-PL', '5 km, 2 m², 10-14 dni', '5 kilometrów, 2 metry kwadratowe, 10 do 14 dni'],
    ['sv-SE', '5 km, 80 m², 10-14 dagar', '5 kilometer, 80 kvadratmeter, 10 till 14 dagar'],
    ['da-DK', '5 km, 80 m², 10-14 dage', '5 kilometer, 80 kvadratmeter, 10 til 14 dage'],
    ['ja-JP', '5 km 10-14', '5 キロメートル 10-14'],
    ['x-nobody', '5 km, $5, 10-14', '5 km, $5, 10-14'],
  ])('in %s: %j is said as %j', (language, written, expected) => expect(spoken(written, { language })).toBe(expected));
});

describe("an agent's own replacements", () => {
  const replacements = [
    { written: 'nginx', spoken: 'engine x' },
    { written: 'SQL', spoken: 'sequel' },
    { written: 'New York', spoken: 'the big apple' },
    { written: 'New York City', spoken: 'the city' },
    { written: 'C++', spoken: 'C plus plus' },
    { written: '5 km', spoken: 'five clicks' },
    { written: '6 km', spoken: '6 km' },
    { written: '東京', spoken: 'とうきょう' },
  ];
  it.each<Example>([
    ['Use NGINX, nginx or nginxes.', 'Use engine x, engine x or nginxes.'],
    ['SQL, MySQL and sql', 'sequel, MySQL and sql'],
    ['New York City is in New **York**.', 'the city is in the big apple.'],
    ['It is in C++, 5 km away.', 'It is in C plus plus, five clicks away.'],
    ['It is 6 km away, or 7 km.', 'It is 6 km away, or 7 kilometers.'],
    ['私は東京です。', '私はとうきょうです。'],
  ])('%j is said as %j', (written, expected) => expect(spoken(written, { replacements })).toBe(expected));
});

it('leaves each kind as it is written where it is switched off', () => {
  const written: Readonly<Record<NormalizationKind, string>> = {
    markup: '**a** &amp; b',
    emoji: 'So 👍 it is',
    addresses: 'at a@b.com now',
    dates: 'on 2026-12-03 then',
    times: 'at 14:00 then',
    phoneNumbers: 'call 555-123-4567 now',
    money: 'pay $5 now',
    units: 'go 5 km now',
    ranges: 'take 10-14 now',
  };
  for (const [kind, text] of Object.entries(written)) {
    expect(spoken(text, { normalization: { [kind]: false } })).toBe(text);
    expect(spoken(text)).not.toBe(text);
  }
});

const languages = fc.constantFrom('en-US', 'de-DE', 'fr', 'es', 'it', 'pt-BR', 'nl', 'pl', 'sv', 'da', 'ja', 'x-nobody');
const tokens = [
  '$',
  '€',
  '4,200.50',
  '2026-12-03',
  '14:30',
  '+43 1 234',
  '5 km',
  '%',
  '-',
  '–',
  'a@b.com',
  'https://a.de/b',
  '**',
  '_',
  '~~',
  '`',
  '[',
  '](',
  ')',
  '|',
  '\n',
  '|-|',
  '# ',
  '<b>',
  '<br>',
  '&amp;',
  '👍',
  'word',
  ' ',
  '.',
  ', ',
  '\u200D',
  '\uFFFC',
  '١٢',
  '中文',
  '０',
];
const hostile = fc.array(fc.oneof(fc.constantFrom(...tokens), fc.string({ unit: 'grapheme', maxLength: 4 })), { maxLength: 40 });

it('never fails, and keeps all that was written, whatever comes', () => {
  fc.assert(
    fc.property(languages, hostile, (language, pieces) => {
      const answer = new TextNormalizer({ language, replacements: [{ written: 'word', spoken: 'a word' }] }).answer();
      const sentences = [...pieces.flatMap((piece) => answer.push(piece)), ...answer.end()];
      expect(sentences.map(({ written }) => written).join('')).toBe(pieces.join(''));
      for (const [index, sentence] of sentences.entries()) {
        expect(sentence.spoken).not.toMatch(/^\s|\s$|\n/u);
        if (sentence.spoken === '') expect(index).toBe(sentences.length - 1);
        for (const share of [0, 0.3, 0.7, 1]) expect(sentence.written.startsWith(sentence.heardUpTo(share))).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});

it('loses no word that is not markup', () => {
  const signs = [
    '*',
    '**',
    '_',
    '~~',
    '`',
    '[',
    ']',
    '#',
    '# ',
    '- ',
    '> ',
    '\n',
    ' ',
    ' ',
    '. ',
    ', ',
    '&',
    '<',
    '>',
    '|',
    '👍',
    '"',
    '!',
    '\\',
  ];
  const parts = fc.array(fc.oneof(fc.constantFrom(...signs), fc.constant(undefined)), { maxLength: 40 });
  fc.assert(
    fc.property(languages, parts, (language, all) => {
      // Each place has a word of letters; "qqaq", "qqbq" … are in no language and no list.
      const written = all.map((sign, index) => sign ?? ` qq${String.fromCodePoint(97 + (index % 26))}q `).join('');
      fc.pre(!/`{3}|~{3}/.test(written));
      const words = (text: string): readonly string[] => text.match(/qq[a-z]q/g) ?? [];
      expect(words(spoken(written, { language }))).toEqual(words(written));
    }),
    { numRuns: 500 },
  );
});

it('leaves what it has put into words as it is', () => {
  const written = 'On 2026-12-03 at 14:00 call +43 1 234 5678 or a@b.com: **$4.50**, 5 km, 10-14 days 👍, 80 m². ';
  for (const language of ['en-US', 'de-DE', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'sv', 'da']) {
    const once = spoken(written, { language });
    expect(spoken(once, { language })).toBe(once);
  }
});
