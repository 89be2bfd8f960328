/** Thrown where LiveKit's library lacks something that a patch needs. */
import { version } from '@livekit/agents';

export class LiveKitError extends Error {
  override readonly name = 'LiveKitError';
}

/** Checks that an object has functions. @throws LiveKitError where one of the members is no function of the object */
export function expectFunctions(name: string, object: object, members: readonly string[]): void {
  const missing = members.find((member) => typeof (object as Readonly<Record<string, unknown>>)[member] !== 'function');
  if (missing === undefined) return;
  throw new LiveKitError(
    `@livekit/agents ${version} has no ${name}.${missing}, which Parley needs: install the version in Parley's package-lock.json (npm ci)`,
  );
}
