import { describe, expect, it } from 'vitest';

import { decodeText } from './decode.ts';

const german = 'Grüße aus München: „schöne“ Tage – 20 € für Käse, Äpfel und Öl.';
const western = Buffer.from('Caf\xe9 na\xefve \x96 \x93smart quotes\x94 and \x80 20 for se\xf1or M\xfcller', 'latin1');
const bangla = 'বাংলাদেশের রাজধানী ঢাকা। ক্ষুদ্র ঋণ ও স্ত্রী শিক্ষা।';

function utf16(text: string, order: 'le' | 'be'): Buffer {
  const bytes = Buffer.from(text, 'utf16le');
  return order === 'le' ? bytes : bytes.swap16();
}

function utf32(text: string, order: 'le' | 'be'): Buffer {
  const points = Array.from(`\ufeff${text}`, (character) => character.codePointAt(0) ?? 0);
  const bytes = Buffer.alloc(points.length * 4);
  points.forEach((point, at) => (order === 'le' ? bytes.writeUInt32LE(point, at * 4) : bytes.writeUInt32BE(point, at * 4)));
  return bytes;
}

describe('text in any encoding', () => {
  it.each([german, bangla, '中文文本，带有标点。', 'plain words only', 'Русский текст, и цифры 123'])(
    'reads %s in every Unicode form',
    (text) => {
      const forms = {
        utf8: Buffer.from(text),
        'utf8 with mark': Buffer.from(`\ufeff${text}`),
        'utf16le with mark': utf16(`\ufeff${text}`, 'le'),
        'utf16be with mark': utf16(`\ufeff${text}`, 'be'),
        utf16le: utf16(text, 'le'),
        utf16be: utf16(text, 'be'),
        utf32le: utf32(text, 'le'),
        utf32be: utf32(text, 'be'),
      };
      const decoded = Object.fromEntries(Object.entries(forms).map(([name, bytes]) => [name, decodeText(bytes).replace(/^\ufeff/u, '')]));
      expect(decoded).toEqual(Object.fromEntries(Object.keys(forms).map((name) => [name, text])));
    },
  );

  it('reads UTF-8 with a few broken bytes as UTF-8', () => {
    const one = Buffer.concat([Buffer.from(german), Buffer.from('caf\xe9 ', 'latin1'), Buffer.from(german)]);
    expect(decodeText(one)).toBe(`${german}caf\ufffd ${german}`);
    expect(decodeText(one, 'utf-8')).toBe(`${german}caf\ufffd ${german}`);
  });

  it('reads UTF-8 that ends inside a character up to there', () => {
    for (const lost of [1, 2]) {
      const cut = Buffer.from(`${german} 20 €`).subarray(0, -lost);
      expect(decodeText(cut)).toBe(`${german} 20 `);
      expect(decodeText(cut, 'utf-8')).toBe(`${german} 20 `);
    }
  });

  it('does not take the name UTF-8 for granted', () => {
    expect(decodeText(western, 'utf-8')).toBe(decodeText(western));
    expect(decodeText(Buffer.from('caf\xe9', 'latin1'), 'utf-8')).toBe('café');
  });

  it('detects windows-1252 by its letters', () => {
    expect(decodeText(western)).toBe('Café naïve – “smart quotes” and € 20 for señor Müller');
    expect(decodeText(Buffer.from('R\xe9sum\xe9', 'latin1'))).toBe('Résumé');
  });

  it.each([
    ['4c6520636166e9206ff9206c92e96ce8766520612064ee6ee920636ffb746520313220802e', 'Le café où l’élève a dîné coûte 12 €.'],
    ['4ee36f2068e12070e36f206e656d206d61e7e320e0206d6573612e', 'Não há pão nem maçã à mesa.'],
    ['48e56b6f6e2070e520f879612073706973657220626ce562e672', 'Håkon på øya spiser blåbær'],
  ])('reads a single sentence of windows-1252: %#', (hex, expected) => {
    expect(decodeText(Buffer.from(hex, 'hex'))).toBe(expected);
  });

  it.each([
    [
      'gb18030',
      'd6d0b9fad6c7c4dcd3efd2f4b4fac0edc6bdcca8a3acd6a7b3d6b6e0d6d6d3efd1d4a1a3c7ebcae4c8ebc4fab5c4cec4bcfea1a3',
      '中国智能语音代理平台，支持多种语言。请输入您的文件。',
    ],
    ['gb18030', 'cdcbbbf5d5feb2dfa3bac8fdcaaeccecc4dabfc9d2d4cdcbbbf5a1a3', '退货政策：三十天内可以退货。'],
    [
      'shift_jis',
      '95d4956982cd8e4f8f5c93fa88c893e082c98ef382af957482af82dc82b7814282a896e282a28d8782ed82b982cd8381815b838b82c582a88ae882a282b582dc82b78142',
      '返品は三十日以内に受け付けます。お問い合わせはメールでお願いします。',
    ],
    [
      'big5',
      'b068b366ac46b5a6a147a454a451a4d1a4baa569a548b068b366a141bdd0c170b5b8abc8a4e1aa41b0c8a4a4a4dfa143',
      '退貨政策：三十天內可以退貨，請聯絡客戶服務中心。',
    ],
    [
      'euc_kr',
      'c8afbad2c0ba20bbefbdcac0cf20c0ccb3bbbfa120b0a1b4c9c7d5b4cfb4d92e20b0edb0b420bcbec5cdb7ce20b9aec0c7c7cfbcbcbfe42e',
      '환불은 삼십일 이내에 가능합니다. 고객 센터로 문의하세요.',
    ],
    [
      'cp1251',
      'cff0e8e2e5f22c20fdf2ee20f2e5eaf1f220ede020f0f3f1f1eaeeec20ffe7fbeae52e20cef7e5edfc20f5eef0eef8ee21',
      'Привет, это текст на русском языке. Очень хорошо!',
    ],
    [
      'euc_jp',
      'cad6c9caa4cfbbb0bdbdc6fcb0cac6e2a4cbbcf5a4b1c9d5a4b1a4dea4b9a1a3a4aacce4a4a4b9e7a4efa4bba4cfa5e1a1bca5eba4c7a4aab4eaa4a4a4b7a4dea4b9a1a3',
      '返品は三十日以内に受け付けます。お問い合わせはメールでお願いします。',
    ],
    [
      'windows-1250',
      '437aea9ce6207a6f737461b36120646f73746172637a6f6e612070f39f6e69656a206e69bf206f637a656b6977616e6f2c2070726f737aea206f207a77726f74207069656e69ea647a792e',
      'Część została dostarczona później niż oczekiwano, proszę o zwrot pieniędzy.',
    ],
    [
      'windows-1250',
      '52656b6c616de163696120746f76617275206a65206d6f9e6ee120646f209a74726ee1737469636820646eed206f6420707265767a61746961207ae17369656c6b792e',
      'Reklamácia tovaru je možná do štrnástich dní od prevzatia zásielky.',
    ],
    [
      'windows-1254',
      'de69fe6c699264652067fc6e65fe6c69206269722067fc6e2c2061f061e76c6172fd6e20616c74fd6e646120e76f63756b6c61722e',
      'Şişli’de güneşli bir gün, ağaçların altında çocuklar.',
    ],
  ] as const)('guesses %s', (_, hex, expected) => {
    expect(decodeText(Buffer.from(hex, 'hex'))).toBe(expected);
  });

  it('takes the encoding that the sender names, if the content fits it', () => {
    expect(decodeText(Buffer.from('caf\xe9', 'latin1'), 'iso-8859-1')).toBe('café');
    expect(decodeText(Buffer.from('café'), 'no-such-encoding')).toBe('café');
  });

  it.each([
    ['NULs', Buffer.alloc(1000)],
    ['a picture', Buffer.from('89504e470d0a1a0a0000000d494844520000000100000001'.repeat(20), 'hex')],
    ['controls', Buffer.from('\u0001\u0002\u0003\u0004 text \u0005\u0006'.repeat(50))],
  ])('refuses %s', (_, content) => {
    expect(() => decodeText(content)).toThrow(expect.objectContaining({ code: 'unsupported_content' }));
  });
});
