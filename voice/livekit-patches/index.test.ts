import { readFileSync } from 'node:fs';

import { expect, it } from 'vitest';

import { checkLiveKitVersion, LiveKitVersionError, PATCHED_VERSION } from './index.ts';

it('accepts the version that package.json pins', () => {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: Record<string, string> };
  expect(dependencies['@livekit/agents']).toBe(PATCHED_VERSION);
  expect(() => checkLiveKitVersion()).not.toThrow();
});

it('refuses any other version with the package, both versions and what to do', () => {
  expect(() => checkLiveKitVersion('1.10.0')).toThrow(LiveKitVersionError);
  expect(() => checkLiveKitVersion('1.10.0')).toThrow(
    /^@livekit\/agents 1\.10\.0 is installed, but .* written for 1\.9\.0: install 1\.9\.0 \(npm ci\), or check each patch/,
  );
});
