import { Parser } from 'htmlparser2';

export type Attributes = Readonly<Record<string, string | undefined>>;

export interface XmlHandler {
  open(name: string, attributes: Attributes): void;
  text?(text: string): void;
  close?(name: string): void;
}

/** Walks an XML part whose nesting has been checked, without building a tree. Names come without their prefixes. */
export function walkXml(part: Buffer | undefined, handler: XmlHandler): void {
  const parser = new Parser(
    {
      onopentag: (name, attributes) => handler.open(localName(name), localNames(attributes)),
      ontext: (text) => handler.text?.(text),
      onclosetag: (name) => handler.close?.(localName(name)),
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(part?.toString() ?? '');
}

/** Properties such as `<w:b/>` hold unless their value says otherwise. */
export function isOn({ val }: Attributes): boolean {
  return val === undefined || !/^(?:0|false|off|none)$/u.test(val);
}

/** Reads the number of an element such as `<w:ilvl w:val="2"/>`. */
export function integer(value: string | undefined, otherwise: number): number {
  const number = Number.parseInt(value ?? '', 10);
  return Number.isSafeInteger(number) && number >= 0 ? number : otherwise;
}

function localNames(attributes: Readonly<Record<string, string>>): Attributes {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [localName(name), value]));
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
