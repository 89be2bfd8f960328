/** Reads options of benchmarks. */
import { InvalidArgumentError } from 'commander';

/** @returns a parser of `a,d`: some of `names`, in their order */
export function partsOf<const Name extends string>(names: readonly Name[]): (text: string) => readonly Name[] {
  return (text) => {
    const wanted = text.split(',').map((part) => part.trim());
    const unknown = wanted.filter((part) => !names.some((known) => known === part));
    if (unknown.length > 0) throw new InvalidArgumentError(`there is no ${unknown.join(', ')}; allowed are ${names.join(', ')}.`);
    return names.filter((part) => wanted.includes(part));
  };
}

export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('must be a whole number from 1.');
  return value;
}
