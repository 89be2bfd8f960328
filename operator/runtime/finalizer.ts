import { wellKnown } from '../../crds/index.ts';
import type { KubeObject, ResourceClient, Stored } from '../../kube/index.ts';
import type { ReconcileContext } from './controller.ts';

/** Others' finalizers stay; the resourceVersion in the patch keeps two writers from undoing each other. */
export async function setFinalizer<T extends KubeObject>(
  client: ResourceClient<T>,
  object: Stored<T>,
  present: boolean,
  { signal }: Pick<ReconcileContext, 'signal'>,
): Promise<Stored<T>> {
  const others = (object.metadata.finalizers ?? []).filter((finalizer) => finalizer !== wellKnown.finalizer);
  return client.patchFinalizers(object, present ? [...others, wellKnown.finalizer] : others, { signal });
}
