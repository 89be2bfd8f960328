/** Takes the keys of providers from the environment, or asks the person for them without showing what is typed. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

import { UserError } from '../../platform/user-error.ts';
import { INTERRUPTED } from '../interruptible.ts';
import { KNOWN_PROVIDERS, knownProvider, type ProviderName } from './catalogue.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface ProviderKey {
  readonly value: string;
  /** Where it is from, for messages: the name of a variable, or `what was typed`. */
  readonly from: string;
}

/** Asks for a secret; undefined where nobody can answer. */
export type AskSecret = ((question: string) => Promise<string>) | undefined;

/** @returns keys by provider; one that needs none and has none is absent. @throws UserError for a key that is missing or can't be sent */
export async function readKeys(
  names: readonly ProviderName[],
  { env, ask }: { readonly env: Environment; readonly ask: AskSecret },
): Promise<ReadonlyMap<ProviderName, ProviderKey>> {
  const keys = new Map<ProviderName, ProviderKey>();
  const missing: ProviderName[] = [];
  for (const name of names) {
    const { variables, needsKey, title, keysPage } = knownProvider(name);
    const variable = variables.find((each) => (env[each] ?? '').trim() !== '');
    if (variable !== undefined) keys.set(name, { value: usable(env[variable]!, variable), from: variable });
    else if (needsKey && ask === undefined) missing.push(name);
    else if (needsKey && ask !== undefined) {
      const typed = await ask(`Key of ${title}${keysPage === undefined ? '' : ` (${keysPage})`}, not shown while you type: `);
      if (typed.trim() === '') throw new UserError(`no key of ${title} was typed`, { cure: cureOf([name]) });
      keys.set(name, { value: usable(typed, 'what was typed'), from: 'what was typed' });
    }
  }
  if (missing.length > 0) {
    const titles = missing.map((name) => knownProvider(name).title).join(', ');
    throw new UserError(`there is no key of ${titles} in the environment, and no terminal to ask for it`, { cure: cureOf(missing) });
  }
  return keys;
}

const cureOf = (names: readonly ProviderName[]): string =>
  `set ${names.map((name) => knownProvider(name).variables[0]).join(', ')}, or run the command in a terminal`;

/** A key travels in a header: what no header takes was copied with something else. */
function usable(text: string, from: string): string {
  const key = text.trim();
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new UserError(`the key in ${from} has spaces or letters that no key has`, { cure: 'copy it again, without what stands around it' });
}

/** Removes the keys from an environment, before processes are started that get it; but for those that Parley's own variables name. */
export function forgetKeys(env: Record<string, string | undefined>): void {
  const named = Object.entries(env).flatMap(([name, value]) => (name.startsWith('PARLEY_') ? [value] : []));
  for (const { variables } of Object.values(KNOWN_PROVIDERS))
    for (const variable of variables) if (!named.some((value) => value?.includes(`"${variable}"`))) delete env[variable];
}

/** @returns how to ask at this terminal; undefined where standard input is none */
export function askAtTerminal(input: NodeJS.ReadStream, output: NodeJS.WriteStream): AskSecret {
  if (!input.isTTY) return undefined;
  return async (question) => {
    // From here on the terminal is in raw mode, and echoes nothing: what readline would draw goes nowhere.
    const lines = createInterface({
      input,
      output: new Writable({ write: (_chunk, _encoding, done) => done() }),
      terminal: true,
      historySize: 0,
    });
    output.write(question);
    try {
      return await new Promise<string>((resolve, reject) => {
        lines.once('line', resolve);
        lines.once('SIGINT', () => reject(new UserError('interrupted: nothing was changed', { exitCode: INTERRUPTED })));
        lines.once('close', () => resolve(''));
      });
    } finally {
      lines.close();
      output.write('\n');
    }
  };
}
