/** Builds the content of a request for a test run: the revision without its versions, and each test as it is now. */
import { canonicalJson, sha256 } from '../platform/canonical-json.ts';
import type { AgentRevisionConfig } from './agent-revision.ts';
import type { AgentTest, AgentTestSpec } from './agent-test.ts';

/** Hashes a revision without `versions` and names: what tests say of one holds for all with the same hash. A rotated Secret leaves it. */
export function configHashOf(config: AgentRevisionConfig): string {
  const { versions: _versions, displayName: _displayName, ...rest } = config;
  return sha256(canonicalJson(rest));
}

/** These fields decide about the outcome. Which agents are tested, when, and whether they have to pass does not. */
type TestContent = Omit<AgentTestSpec, 'suspend' | 'agentRefs' | 'required' | 'schedule' | 'timeZone'>;

const digests = new WeakMap<AgentTestSpec, string>();

/** Hashes what the test says: with another digest it is another test, of which nothing is known. A spec is never changed in place. */
export function testDigest(spec: AgentTestSpec): string {
  const { suspend: _suspend, agentRefs: _agentRefs, required: _required, schedule: _schedule, timeZone: _timeZone, ...content } = spec;
  const digest = digests.get(spec) ?? sha256(canonicalJson(content satisfies TestContent));
  digests.set(spec, digest);
  return digest;
}

export function requestedTest({ metadata, spec }: AgentTest) {
  const { required } = spec;
  return { name: metadata.name, digest: testDigest(spec), required, mode: resultMode(spec), spec };
}

/** Returns a test's mode as rows, metrics, reports and REST spell it. */
export const resultMode = ({ mode }: Pick<AgentTestSpec, 'mode'>): 'text' | 'audio' => (mode === 'Audio' ? 'audio' : 'text');
