/** Decides which licences a dependency may have, and what that means for what is shipped. */

/** Licence of the archive as a whole: Parley's own, and those of parts with conditions of their own; see NOTICE. */
export const ARCHIVE_LICENCES = 'Apache-2.0 AND LicenseRef-LiveKit-Model';
/** Likewise of the image, with libraries of Debian. */
export const IMAGE_LICENCES = `${ARCHIVE_LICENCES} AND LGPL-2.1-or-later AND GPL-3.0-or-later WITH GCC-exception-3.1`;

/** These ask for their text and nothing else, which `third-party-licences.txt` has. */
const PERMISSIVE = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT-0',
  'PSF-2.0',
  'Python-2.0',
  'Unlicense',
  'Zlib',
];

/** Single packages may have other licences, with the reason. A name ending in `*` stands for all that begin so. */
const EXCEPTIONS: readonly { readonly packages: string; readonly licence: string; readonly reason: string }[] = [
  { packages: '@livekit/local-inference', licence: 'LicenseRef-LiveKit-Model', reason: 'used with LiveKit Agents alone; NOTICE says so' },
  { packages: '@livekit/av*', licence: 'LGPL-2.1-or-later', reason: 'a separate program, neither in the image nor in an archive' },
  { packages: '@img/sharp*', licence: 'LGPL-3.0-or-later', reason: 'the same' },
  { packages: 'memium', licence: 'LGPL-3.0-or-later', reason: 'the same' },
  { packages: 'utilium', licence: 'LGPL-3.0-or-later', reason: 'the same' },
  { packages: 'caniuse-lite', licence: 'CC-BY-4.0', reason: 'data for building, in no image' },
  { packages: '@iconify-json/simple-icons', licence: 'CC0-1.0', reason: 'icons for the site of the documentation, in no image' },
  { packages: 'lightningcss*', licence: 'MPL-2.0', reason: 'a tool of the tests, unchanged' },
  {
    packages: '@modelcontextprotocol/server-everything',
    licence: 'SEE LICENSE IN LICENSE',
    reason: 'a server of the tests, in no image; its project has MIT and Apache-2.0',
  },
  { packages: 'axe-core', licence: 'MPL-2.0', reason: 'a tool of the tests, unchanged' },
];

/** Licences of packages without the field `license`, by what they say elsewhere. */
export const OLDER_LICENCES: Readonly<Record<string, string>> = {
  'async@0.2.10': 'MIT',
  'cohere-ai@8.1.0': 'MIT',
  'unionfs@4.6.0': 'Unlicense',
};

/**
 * Tells whether a package may be a dependency.
 *
 * @param expression its licence in SPDX's form: of `OR` one is enough, of `AND` all are needed
 */
export function isListed(name: string, expression: string): boolean {
  const allowed = new Set([
    ...PERMISSIVE,
    ...EXCEPTIONS.filter(({ packages }) => (packages.endsWith('*') ? name.startsWith(packages.slice(0, -1)) : name === packages)).map(
      ({ licence }) => licence,
    ),
  ]);
  const plain = expression.replaceAll(/[()]/g, '');
  return plain.split(' OR ').some((choice) => choice.split(' AND ').every((licence) => allowed.has(licence.trim())));
}
