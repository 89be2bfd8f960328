import { formatListNumber, type NumberFormat } from '../../text/list-number.ts';
import { type Attributes, integer, isOn, walkXml } from './xml.ts';

interface Level {
  readonly start: number;
  /** Format of the number; undefined for bullets and for levels that show none. */
  readonly format: NumberFormat | undefined;
  /** The text around the numbers, e.g. `%1.%2`. */
  readonly text: string;
  /** True if all its numbers are written in digits. */
  readonly isLegal: boolean;
  /** True if it goes on when a list of an upper level begins anew. */
  readonly goesOn: boolean;
  /** Id of the style whose paragraphs are on this level. */
  readonly style: string | undefined;
}

interface List {
  readonly id: string;
  readonly levels: Map<number, Level>;
}

interface Instance {
  readonly numId: string;
  list: string;
  /** First numbers by level. */
  readonly starts: Map<number, number>;
}

const DEEPEST_LEVEL = 8;
/** Longest label in front of a paragraph, because each of its paragraphs repeats it. */
const LONGEST_LABEL = 100;
const NEW_LEVEL: Level = { start: 1, format: 'decimal', text: '', isLegal: false, goesOn: false, style: undefined };
const FORMATS: ReadonlySet<string> = new Set<NumberFormat>(['decimalZero', 'lowerLetter', 'upperLetter', 'lowerRoman', 'upperRoman']);

/** Counts the lists of a document as its paragraphs come. @see ECMA-376 part 1, 17.9 */
export class Numbering {
  readonly #lists = new Map<string, List>();
  readonly #instances = new Map<string, Instance>();
  /** Last number of each level, by list: several instances of one list go on from one another. */
  readonly #counts = new Map<string, (number | undefined)[]>();
  readonly #begun = new Set<string>();

  constructor(part: Buffer | undefined) {
    let list: List | undefined;
    let instance: Instance | undefined;
    let at = 0;
    walkXml(part, {
      open: (name, attributes) => {
        const { val = '' } = attributes;
        if (name === 'abstractNum') {
          [list, instance] = [{ id: attributes['abstractNumId'] ?? '', levels: new Map() }, undefined];
          this.#lists.set(list.id, list);
        } else if (name === 'num') {
          [list, instance] = [undefined, { numId: attributes['numId'] ?? '', list: '', starts: new Map() }];
          this.#instances.set(instance.numId, instance);
        } else if (name === 'lvl' || name === 'lvlOverride') at = integer(attributes['ilvl'], 0);
        else if (name === 'abstractNumId' && instance !== undefined) instance.list = val;
        else if (name === 'startOverride') instance?.starts.set(at, integer(val, 1));
        else if (list !== undefined && at <= DEEPEST_LEVEL)
          list.levels.set(at, { ...(list.levels.get(at) ?? NEW_LEVEL), ...levelProperty(name, attributes) });
      },
    });
  }

  /** Returns the level that a list keeps for a style, where the style names none. */
  levelOf(numId: string, style: string | undefined): number {
    const levels = this.#lists.get(this.#instances.get(numId)?.list ?? '')?.levels ?? new Map<number, Level>();
    return [...levels].find(([, level]) => style !== undefined && level.style === style)?.[0] ?? 0;
  }

  /** Counts a paragraph. @returns its label: `§ 4`, `4.2`, `(a)`, or nothing for a bullet */
  next(numId: string, level: number): string {
    const instance = this.#instances.get(numId);
    const list = this.#lists.get(instance?.list ?? '');
    if (instance === undefined || list === undefined || level > DEEPEST_LEVEL) return '';
    const counts = this.#counts.get(list.id) ?? [];
    this.#counts.set(list.id, counts);
    if (!this.#begun.has(numId)) for (const [at, start] of instance.starts) counts[at] = start - 1;
    this.#begun.add(numId);
    const startOf = (at: number): number => list.levels.get(at)?.start ?? 1;
    for (let upper = 0; upper < level; upper += 1) counts[upper] ??= startOf(upper);
    counts[level] = (counts[level] ?? startOf(level) - 1) + 1;
    for (let deeper = level + 1; deeper < counts.length; deeper += 1)
      if (list.levels.get(deeper)?.goesOn !== true) counts[deeper] = undefined;
    return label(list, counts, level);
  }
}

function levelProperty(name: string, attributes: Attributes): Partial<Level> {
  const { val = '' } = attributes;
  switch (name) {
    case 'start':
      return { start: integer(val, 1) };
    case 'numFmt':
      // Numbers in words and of other scripts are written in digits.
      return { format: val === 'bullet' || val === 'none' ? undefined : FORMATS.has(val) ? (val as NumberFormat) : 'decimal' };
    case 'lvlText':
      return { text: val.slice(0, LONGEST_LABEL) };
    case 'isLgl':
      return { isLegal: isOn(attributes) };
    case 'lvlRestart':
      return { goesOn: val === '0' };
    case 'pStyle':
      return { style: val };
    default:
      return {};
  }
}

function label(list: List, counts: readonly (number | undefined)[], at: number): string {
  const level = list.levels.get(at);
  if (level?.format === undefined) return '';
  return level.text.replaceAll(/%([1-9])/gu, (_, place: string) => {
    const shown = Number(place) - 1;
    const format = level.isLegal ? 'decimal' : (list.levels.get(shown)?.format ?? 'decimal');
    return formatListNumber(counts[shown] ?? 1, format);
  });
}
