import { Parser as XmlParser } from 'htmlparser2';

/** The text of each paragraph of a WordprocessingML part. */
export function paragraphTexts(part: Buffer): readonly string[] {
  const paragraphs: string[] = [];
  let text = '';
  let inText = false;
  const parser = new XmlParser(
    {
      onopentagname: (name) => {
        if (local(name) === 'tab' || local(name) === 'br') text += ' ';
        inText = local(name) === 't';
      },
      ontext: (piece) => (text += inText ? piece : ''),
      onclosetag: (name) => {
        inText = false;
        if (local(name) !== 'p') return;
        paragraphs.push(text);
        text = '';
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(part.toString());
  return paragraphs;
}

/** The text of the first element with this local name, or nothing. */
export function elementText(part: Buffer | undefined, name: string): string {
  let text = '';
  let state: 'before' | 'inside' | 'after' = 'before';
  const parser = new XmlParser(
    {
      onopentagname: (tag) => {
        if (state === 'before' && local(tag) === name) state = 'inside';
      },
      ontext: (piece) => (text += state === 'inside' ? piece : ''),
      onclosetag: (tag) => {
        if (state === 'inside' && local(tag) === name) state = 'after';
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(part?.toString() ?? '');
  return text;
}

function local(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
