/** Gives the agent of a recipe another name: in its own resource, in what refers to it, in commands of the README, and in names of files. */

interface RecipeFile {
  /** Path below the recipe's folder. */
  readonly path: string;
  readonly content: string;
}

/** No other field of a recipe is called `name` and has the agent's name: `templates.test.ts` checks it. */
export function renameAgent({ path, content }: RecipeFile, from: string, to: string): RecipeFile {
  if (path.endsWith('.md')) return { path, content: content.replaceAll(/^```sh\n[^]*?^```/gm, (block) => replaceWord(block, from, to)) };
  // Recorded answers belong to a test and an agent.
  const suffix = `.${from}.yaml`;
  if (path.endsWith(suffix))
    return { path: `${path.slice(0, -suffix.length)}.${to}.yaml`, content: content.replace(/^#.*/, (line) => replaceWord(line, from, to)) };
  return { path, content: content.replaceAll(new RegExp(`^( *(?:- )?name: )${from}$`, 'gm'), (_, field: string) => field + to) };
}

/** Replaces a name that is no part of another one. */
const replaceWord = (text: string, from: string, to: string): string =>
  text.replaceAll(new RegExp(`(?<![\\w-])${from}(?![\\w-])`, 'g'), () => to);
