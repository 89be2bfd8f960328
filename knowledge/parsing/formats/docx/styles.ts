import { type Attributes, integer, isOn, walkXml } from './xml.ts';

/** The look of a run's characters, as far as it changes their meaning. */
export interface RunFormat {
  readonly isBold?: boolean;
  readonly isStruck?: boolean;
  readonly isHidden?: boolean;
  readonly isRaised?: boolean;
  readonly isWhite?: boolean;
  /** True if it stands on a colour of its own. */
  readonly isShaded?: boolean;
}

/** The properties of a style's paragraphs or runs, with those of the styles that it is based on. */
export interface Style extends RunFormat {
  readonly name: string;
  /** Level of the heading, from 1. */
  readonly headingLevel?: number | undefined;
  readonly list?: { readonly numId: string; readonly level?: number };
}

interface OpenStyle extends Style {
  readonly basedOn?: string;
}

const NO_STYLE: Style = { name: '' };
/** Styles are based on a few others; a longer chain is a circle. */
const LONGEST_CHAIN = 20;

export class Styles {
  readonly #own = new Map<string, OpenStyle>();

  constructor(part: Buffer | undefined) {
    let id = '';
    let style: OpenStyle = NO_STYLE;
    walkXml(part, {
      open: (name, attributes) => {
        if (name === 'style') [id, style] = [attributes['styleId'] ?? '', NO_STYLE];
        else style = { ...style, ...styleProperty(name, attributes, style) };
      },
      close: (name) => {
        if (name === 'style') this.#own.set(id, style);
      },
    });
  }

  /** Finds a style by its id. Names of built-in styles are English in every language. */
  get(id: string | undefined): Style {
    const chain: OpenStyle[] = [];
    for (let at = id; at !== undefined && chain.length < LONGEST_CHAIN; at = chain.at(-1)?.basedOn)
      chain.push(this.#own.get(at) ?? NO_STYLE);
    return { ...Object.assign({}, NO_STYLE, ...chain.toReversed()), name: chain[0]?.name ?? '' };
  }
}

function styleProperty(name: string, attributes: Attributes, { list }: Style): Partial<OpenStyle> {
  const { val } = attributes;
  switch (name) {
    case 'name':
      return { name: val?.toLowerCase() ?? '', ...headingLevelOf(val ?? '') };
    case 'basedOn':
      return val === undefined ? {} : { basedOn: val };
    case 'outlineLvl':
      return outlineLevel(attributes);
    case 'numId':
      return { list: { ...list, numId: val ?? '' } };
    case 'ilvl':
      return { list: { numId: '', ...list, level: integer(val, 0) } };
    default:
      return runProperty(name, attributes);
  }
}

function headingLevelOf(name: string): Partial<Style> {
  const level = /^heading ([1-9])$/iu.exec(name)?.[1] ?? (/^title$/iu.test(name) ? '1' : undefined);
  return level === undefined ? {} : { headingLevel: Number(level) };
}

/** Reads an outline level; 9 is that of the text itself. */
export function outlineLevel({ val }: Attributes): { readonly headingLevel: number | undefined } {
  const level = integer(val, 9);
  return { headingLevel: level < 9 ? level + 1 : undefined };
}

export function runProperty(name: string, attributes: Attributes): RunFormat {
  switch (name) {
    case 'b':
      return { isBold: isOn(attributes) };
    case 'strike':
    case 'dstrike':
      return { isStruck: isOn(attributes) };
    case 'vanish':
    case 'specVanish':
      return { isHidden: isOn(attributes) };
    case 'vertAlign':
      return { isRaised: attributes['val'] === 'superscript' };
    case 'color':
      return { isWhite: isWhite(attributes['val']) };
    case 'highlight':
      return { isShaded: !/^(?:none|white)$/u.test(attributes['val'] ?? 'none') };
    case 'shd':
      return { isShaded: isShading(attributes) };
    default:
      return {};
  }
}

/** Matches `FFFFFF` and colours that no eye can tell from it. */
function isWhite(colour: string | undefined): boolean {
  return /^(?:f[a-f]){3}$/iu.test(colour ?? '');
}

/** Tells whether a `shd` colours anything: a pattern, or a fill that isn't the paper's. */
export function isShading({ val, fill }: Attributes): boolean {
  const isFilled = fill !== undefined && fill !== 'auto' && !isWhite(fill);
  return isFilled || !/^(?:clear|nil)$/u.test(val ?? 'clear');
}
