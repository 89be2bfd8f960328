import { openSync } from 'node:fs';

const opened = new Map<string, number>();

/** The address of a Unix socket has 107 bytes, and folders of people are longer: on Linux an open folder has a short name. */
export function shortPath(folder: string, name: string): string {
  let fd = opened.get(folder);
  if (fd === undefined) opened.set(folder, (fd = openSync(folder, 'r')));
  return `/proc/self/fd/${fd}/${name}`;
}
