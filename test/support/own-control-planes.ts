import { TestStack, type ControlPlaneAddresses } from './test-stack.ts';

/** A control plane that one suite at a time has to itself: an operator looks after a whole cluster, and must not meet the objects of others. */
export interface OwnControlPlane extends ControlPlaneAddresses {
  readonly apiServerPid: number | undefined;
}

/** Keeps control planes for the next suite: to start one takes six seconds of a processor. */
export class OwnControlPlanes {
  readonly #stacks: TestStack[] = [];
  readonly #taken = new Map<string, OwnControlPlane>();
  readonly #free: OwnControlPlane[] = [];

  async take(): Promise<OwnControlPlane> {
    const taken = this.#free.pop() ?? (await this.#start());
    this.#taken.set(taken.server, taken);
    return taken;
  }

  /** @param server the address of a control plane that was taken, and is empty again */
  giveBack(server: string): void {
    const taken = this.#taken.get(server);
    if (taken === undefined) throw new Error(`${server} was not taken`);
    this.#taken.delete(server);
    this.#free.push(taken);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#stacks.map((stack) => stack.stop()));
  }

  async #start(): Promise<OwnControlPlane> {
    const stack = new TestStack();
    this.#stacks.push(stack);
    const addresses = await stack.controlPlane();
    return { ...addresses, apiServerPid: stack.pid('kube-apiserver') };
  }
}
