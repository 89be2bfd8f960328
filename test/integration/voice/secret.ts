/** Makes a Secret that agents of a stage refer to. */
import { createTransport, KubeError, loadKubeConfig } from '../../../kube/index.ts';

export async function putSecret(
  kubeconfig: string,
  { namespace, name, values }: { readonly namespace: string; readonly name: string; readonly values: Readonly<Record<string, string>> },
): Promise<{ remove(): Promise<void> }> {
  const transport = createTransport({ kubeConfig: loadKubeConfig({ path: kubeconfig }) });
  const create = (path: string, body: object): Promise<unknown> => transport.request({ method: 'POST', path, body });
  await create('/api/v1/namespaces', { metadata: { name: namespace } }).catch((error: unknown) => {
    // Another suite has made it.
    if (!(error instanceof KubeError) || error.code !== 409) throw error;
  });
  const secrets = `/api/v1/namespaces/${namespace}/secrets`;
  await create(secrets, { metadata: { name }, stringData: values });
  return {
    async remove() {
      await transport.request({ method: 'DELETE', path: `${secrets}/${name}` });
      await transport.close();
    },
  };
}
