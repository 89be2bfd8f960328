/** Starts the servers of the integration tests for a run, and stops them after it. */
import { readSharedStack } from '../../support/shared-stack.ts';
import { TestStack } from '../../support/test-stack.ts';

export interface BenchStack {
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** Paths of kubeconfigs with just the permissions that the roles have; undefined where the API server is somebody else's. */
  readonly roles: { readonly operator: string; readonly api: string } | undefined;
  /** True if everything on it goes with it, so that nothing need be cleared away. */
  readonly disposable: boolean;
  /** The address of a Postgres server on which databases may be created. Started when first asked for. */
  databaseUrl(): Promise<string>;
  stop(): Promise<void>;
}

/** `kubeconfig` is used instead of a server of our own; `PARLEY_TEST_STACK` names a stack that `scripts/test-stack.ts` keeps running. */
export async function startStack(options: { readonly kubeconfig?: string; readonly env: NodeJS.ProcessEnv }): Promise<BenchStack> {
  if (options.kubeconfig !== undefined) {
    return {
      kubeconfig: options.kubeconfig,
      roles: undefined,
      disposable: false,
      databaseUrl: () =>
        Promise.reject(new Error('this part starts roles of its own and needs a stack of its own: leave --kubeconfig out')),
      stop: () => Promise.resolve(),
    };
  }
  const shared = readSharedStack(options.env);
  if (shared !== undefined) {
    const { controlPlane, databaseUrl } = shared;
    return {
      kubeconfig: controlPlane.kubeconfig,
      roles: controlPlane.kubeconfigs,
      disposable: false,
      databaseUrl: () => Promise.resolve(databaseUrl),
      stop: () => Promise.resolve(),
    };
  }
  const own = new TestStack();
  try {
    const { kubeconfig, kubeconfigs } = await own.controlPlane();
    return { kubeconfig, roles: kubeconfigs, disposable: true, databaseUrl: () => own.databaseUrl(), stop: () => own.stop() };
  } catch (error) {
    await own.stop();
    throw error;
  }
}
