/** Keeps what MCP servers said when tests were recorded in a file next to the recordings, for runs that ask no server. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { Document } from 'yaml';

import type { ServerTool } from '../../crds/mcp-tools.ts';
import { readYaml, YamlError } from '../../platform/yaml.ts';

const FORMAT = 1;

/** @param source the Tool's file */
export const keptListFile = (source: string, tool: string): string => join(dirname(source), 'cassettes', 'tools', `${tool}.yaml`);

/** @returns undefined where there is no such file. @throws Error for one that can't be used, or that is of a server at another address */
export async function readKeptList(file: string, url: string): Promise<readonly ServerTool[] | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const kept = readKeptContent(text);
  if (kept['format'] !== FORMAT || !Array.isArray(kept['tools']) || !kept['tools'].every(isTool))
    throw new Error(`${file} is no list of tools of this version: run the tests with --record`);
  if (kept['url'] !== url) throw new Error(`${file} is of the server ${String(kept['url'])}: run the tests with --record`);
  return kept['tools'];
}

/** Returns nothing where the text is no YAML that can be read. */
function readKeptContent(text: string): Readonly<Record<string, unknown>> {
  try {
    return (readYaml(text)[0]?.value ?? {}) as Readonly<Record<string, unknown>>;
  } catch (error) {
    if (error instanceof YamlError) return {};
    throw error;
  }
}

/** Writes the file as a whole or not at all: people committed what is there. */
export async function keepList(file: string, url: string, tools: readonly ServerTool[]): Promise<void> {
  const document = new Document({ format: FORMAT, url, tools });
  document.commentBefore = ' Tools of an MCP server, for replays of tests. Written by parley test --record.';
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.new`, document.toString({ lineWidth: 0 }));
  await rename(`${file}.new`, file);
}

/** People edit and merge these files. */
function isTool(value: unknown): value is ServerTool {
  const { name, description, parameters, readOnly } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const texts = typeof name === 'string' && typeof description === 'string';
  return texts && typeof readOnly === 'boolean' && typeof parameters === 'object' && parameters !== null;
}
