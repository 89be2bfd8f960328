import { KubeError } from '../../../../kube/index.ts';

/** Returns the KubeError that a request ends with; anything else fails the test. */
export async function failureOf(request: Promise<unknown>): Promise<KubeError> {
  let answer: unknown;
  try {
    answer = await request;
  } catch (error) {
    if (error instanceof KubeError) return error;
    throw error;
  }
  throw new Error(`expected a refusal, got ${JSON.stringify(answer)}`);
}
