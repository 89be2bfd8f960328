import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Finds a file or folder that belongs to a module. From sources it lies next to the module; the build copies it into `dist/`,
 * where the module's code stands either in the entry next to it or one folder below, in a chunk.
 *
 * @param moduleUrl `import.meta.url` of the module
 * @returns an absolute path, or undefined when it is in neither place
 */
export function locateAsset(moduleUrl: string, name: string): string | undefined {
  return [`./${name}`, `../${name}`].map((path) => fileURLToPath(new URL(path, moduleUrl))).find((path) => existsSync(path));
}
