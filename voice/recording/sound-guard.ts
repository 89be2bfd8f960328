/**
 * Says which sound of a call may be written, and where a tone takes its place. Sound is judged by its words, which are known seconds after
 * it: until then it stays in memory.
 *
 *   the user     a sound is open from its start until all its words are known; what is personal in them covers all of the sound.
 *   the agent    its words are known before they are heard; only the words themselves are covered.
 *   too late     what is not judged within {@link HELD_MS} is covered.
 */
import { isDictation, findInDictation } from '../../calls/redaction/dictation.ts';
import type { Finding } from '../../calls/redaction/kinds.ts';
import type { ModelFinder } from '../../calls/redaction/model-finder.ts';
import type { Redactor } from '../../calls/redaction/redactor.ts';
import type { Clock } from '../../platform/clock.ts';
import type { EarEvent } from '../conversation/ports.ts';

/** Longest time that sound waits for its words, in milliseconds. */
export const HELD_MS = 20_000;
/** What is covered before and behind words, in milliseconds: their times are those of whole words and windows. */
const MARGIN_MS = 400;

/** Left: the user; right: the agent. */
export type Side = 0 | 1;

/** Times in milliseconds since the epoch. */
export interface CoveredSound {
  readonly side: Side;
  readonly from: number;
  to: number;
}

export interface SoundGuardOptions {
  /** Absent where only what {@link SoundGuard.coverAll} names is covered. */
  readonly redactor?: Redactor | undefined;
  readonly model?: Pick<ModelFinder, 'find'> | undefined;
  readonly clock: Clock;
}

/** A sound of the user, or a whole speech of the agent, whose words are not judged. */
interface OpenSound {
  readonly side: Side;
  readonly from: number;
  to: number;
  text: string;
}

interface Speech extends OpenSound {
  readonly heard: { readonly at: number; readonly characters: number }[];
  /** What is personal in its text; undefined until the model has said so. */
  findings: readonly Finding[] | undefined;
  complete: boolean;
}

export class SoundGuard {
  readonly #options: SoundGuardOptions;
  readonly #covered: CoveredSound[] = [];
  /** Sounds of the user in order; the last one may go on. */
  readonly #sounds: OpenSound[] = [];
  readonly #speeches = new Map<number, Speech>();
  readonly #judging = new Set<Promise<void>>();
  #speaking = false;

  constructor(options: SoundGuardOptions) {
    this.#options = options;
  }

  // -- the user

  hear(event: EarEvent): void {
    if (this.#options.redactor === undefined) return;
    const now = this.#options.clock.now();
    const open = this.#sounds.at(-1);
    switch (event.type) {
      case 'speaks':
        this.#speaking = true;
        if (open === undefined || open.to !== Infinity)
          this.#sounds.push({ side: 0, from: event.since - MARGIN_MS, to: Infinity, text: '' });
        return;
      case 'pauses':
        this.#speaking = false;
        return;
      case 'understood': {
        const sound = open ?? { side: 0, from: now - HELD_MS, to: Infinity, text: '' };
        if (open === undefined && event.text !== '') this.#sounds.push(sound);
        sound.text = `${sound.text} ${event.text}`.trim();
        if (event.more || this.#speaking) return;
        sound.to = Math.min(sound.to, now);
        return this.#judge(this.#judgeUser());
      }
      case 'interim':
      case 'lasts':
      case 'turnEnds':
    }
  }

  /** Judges all sounds that are over: digits of several may be one number. */
  async #judgeUser(): Promise<void> {
    const redactor = this.#options.redactor!;
    const over = this.#sounds.filter(({ to }) => to !== Infinity);
    const texts = over.map(({ text }) => text);
    const checked = await this.#askModel(texts);
    for (const [index, sound] of over.entries()) {
      const isPersonal = !checked || redactor.find(texts[index] ?? '').length > 0;
      if (isPersonal) this.#cover(sound);
    }
    const dictated = texts.map((text) => redactor.findsNumbers && isDictation(text, redactor.language));
    const from = dictated.lastIndexOf(false) + 1;
    const parts = over.slice(from);
    const { findings, complete } = findInDictation(texts.slice(from), redactor.language, (text) => redactor.find(text));
    for (const [index, sound] of parts.entries()) if ((findings[index] ?? []).length > 0) this.#cover(sound);
    // Digits that may go on stay open.
    this.#close(complete ? over : over.slice(0, from));
  }

  // -- the agent

  /** Notes words that the agent is about to say. */
  says(speech: number, text: string): void {
    if (this.#options.redactor === undefined) return;
    const known = this.#speeches.get(speech) ?? {
      side: 1,
      from: Infinity,
      to: Infinity,
      text: '',
      heard: [],
      findings: undefined,
      complete: false,
    };
    this.#speeches.set(speech, { ...known, text: known.text + text, findings: this.#options.model === undefined ? [] : undefined });
  }

  /** Notes that all words of a speech are known. */
  saysNoMore(speech: number): void {
    const said = this.#speeches.get(speech);
    if (said === undefined || this.#options.model === undefined) return;
    this.#judge(this.#judgeSpeech(speech, said.text));
  }

  async #judgeSpeech(speech: number, text: string): Promise<void> {
    const checked = await this.#askModel([text]);
    const said = this.#speeches.get(speech);
    if (said === undefined) return;
    said.findings = checked ? this.#options.redactor!.find(said.text) : [{ start: 0, end: said.text.length, kind: '', label: '' }];
    this.#coverWords(said);
    if (said.complete) this.#speeches.delete(speech);
  }

  /** Notes how much of a speech is heard. @param final nothing more is heard of it */
  heard(speech: number, characters: number, final: boolean): void {
    const said = this.#speeches.get(speech);
    if (said === undefined) return;
    const at = this.#options.clock.now();
    said.heard.push({ at, characters });
    if (this.#options.model === undefined) said.findings = this.#options.redactor!.find(said.text);
    said.complete = final;
    this.#coverWords(said);
    if (final && said.findings !== undefined) this.#speeches.delete(speech);
  }

  /** Covers the words that were heard to their end, or that will not be. */
  #coverWords({ heard, findings = [], complete }: Speech): void {
    for (const { start, end } of findings) {
      const from = heard.findLast(({ characters }) => characters <= start)?.at ?? heard[0]?.at;
      const behind = heard.find(({ characters }) => characters >= end)?.at ?? (complete ? heard.at(-1)?.at : undefined);
      const begun = (heard.at(-1)?.characters ?? 0) > start;
      if (from !== undefined && begun && behind !== undefined) this.#cover({ side: 1, from: from - MARGIN_MS, to: behind });
    }
  }

  /** Returns from when on the agent's sound is not judged. */
  #unjudgedSpeech(): number {
    let from = Infinity;
    for (const { heard, findings } of this.#speeches.values()) {
      const first = heard[0]?.at ?? Infinity;
      if (findings === undefined) from = Math.min(from, first);
      for (const { start, end } of findings ?? []) {
        if (heard.some(({ characters }) => characters >= end)) continue;
        from = Math.min(from, heard.findLast(({ characters }) => characters <= start)?.at ?? first);
      }
    }
    return from - MARGIN_MS;
  }

  // -- both

  /** Covers all sound of a side from now on. @returns ends it */
  coverAll(side: Side): () => void {
    const covered = { side, from: this.#options.clock.now() - MARGIN_MS, to: Infinity };
    this.#covered.push(covered);
    return () => {
      if (covered.to === Infinity) covered.to = this.#options.clock.now() + MARGIN_MS;
    };
  }

  /** Returns the time up to which sound is judged; what waits too long is covered. */
  judgedUntil(now: number): number {
    const user = Math.min(Infinity, ...this.#sounds.map(({ from }) => from));
    const unjudged = [user, this.#unjudgedSpeech()] as const;
    for (const [side, from] of unjudged.entries())
      if (from < now - HELD_MS) this.#covered.push({ side: side as Side, from, to: now - HELD_MS });
    return Math.max(now - HELD_MS, Math.min(...unjudged, now));
  }

  /** Returns where a tone takes the place of sound. */
  covered(): readonly CoveredSound[] {
    return this.#covered;
  }

  /** Resolves when the model has been asked about all words. */
  async settled(): Promise<void> {
    while (this.#judging.size > 0) await Promise.allSettled(this.#judging);
  }

  /** Covers what is not judged: nobody will. */
  close(): void {
    for (const sound of this.#sounds) this.#cover({ ...sound, to: Infinity });
    const from = this.#unjudgedSpeech();
    if (from < Infinity) this.#cover({ side: 1, from, to: Infinity });
    this.#sounds.length = 0;
    this.#speeches.clear();
  }

  #cover({ side, from, to }: Pick<OpenSound, 'side' | 'from' | 'to'>): void {
    const covered = { side, from, to: to + MARGIN_MS };
    if (!this.#covered.some((each) => each.side === side && each.from === from && each.to === covered.to)) this.#covered.push(covered);
  }

  #close(sounds: readonly OpenSound[]): void {
    for (const sound of sounds) {
      const at = this.#sounds.indexOf(sound);
      if (at >= 0) this.#sounds.splice(at, 1);
    }
  }

  #judge(judging: Promise<void>): void {
    this.#judging.add(judging);
    void judging.finally(() => this.#judging.delete(judging));
  }

  async #askModel(texts: readonly string[]): Promise<boolean> {
    const { model, redactor } = this.#options;
    const wanted = texts.filter((text) => text !== '');
    if (model === undefined || wanted.length === 0) return true;
    const found = await model.find(wanted);
    if (found !== undefined) redactor?.remember(found);
    return found !== undefined;
  }
}
