import { createTransport, loadKubeConfig } from '../../../kube/index.ts';
import { controlPlane } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { kubeContract } from '../../support/kube-contract.ts';
import { widgetDefinition } from '../../support/kube-contract/widget.ts';

kubeContract('kube-apiserver', async () => {
  const { kubeconfig } = await controlPlane();
  const kubeConfig = loadKubeConfig({ path: kubeconfig });
  const transport = createTransport({ kubeConfig });
  await transport.request({
    method: 'PATCH',
    path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${widgetDefinition.metadata.name}`,
    query: { fieldManager: 'contract', force: true },
    contentType: 'application/apply-patch+yaml',
    body: widgetDefinition,
  });
  await eventually(() => transport.request({ method: 'GET', path: '/apis/contract.parley.dev/v1/widgets' }));
  await transport.close();
  return { kubeConfig, stop: () => Promise.resolve() };
});
