/** Shows the user's first words for each call of the list that is in view: the list itself doesn't have them. */
import { firstWords, isOver, type ShownCallSummary } from '../../session/record.ts';
import type { Rest } from '../shared/rest.ts';
import type { WordsPlace } from './view.ts';

export interface FirstWords {
  /** Puts the words into a place once that comes into view. */
  readonly put: WordsPlace;
  close(): void;
}

/** Reads one call after the other: the key has a rate limit, and its other users come first. */
export function readFirstWords(rest: Pick<Rest, 'call'>): FirstWords {
  const known = new Map<string, string | undefined>();
  const callOf = new WeakMap<HTMLElement, ShownCallSummary>();
  const inView = new Set<HTMLElement>();
  let isReading = false;

  const read = async (): Promise<void> => {
    if (isReading) return;
    isReading = true;
    for (const place of inView) {
      inView.delete(place);
      const id = callOf.get(place)?._id;
      if (id === undefined || !place.isConnected) continue;
      const record = await rest.call(id).catch(() => undefined);
      if (record === undefined) continue;
      const words = firstWords(record);
      // The call still goes on: it is read again when it comes back into view.
      if (words === undefined && !isOver(record)) continue;
      observer.unobserve(place);
      known.set(id, words);
      show(place, words);
    }
    isReading = false;
  };
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) inView.add(target as HTMLElement);
      else inView.delete(target as HTMLElement);
    }
    void read();
  });
  return {
    put(call, place) {
      if (known.has(call._id)) return show(place, known.get(call._id));
      callOf.set(place, call);
      observer.observe(place);
    },
    close() {
      observer.disconnect();
      inView.clear();
    },
  };
}

function show(place: HTMLElement, words: string | undefined): void {
  place.textContent = words ?? 'The user said nothing.';
  place.classList.toggle('quiet', words === undefined);
}
