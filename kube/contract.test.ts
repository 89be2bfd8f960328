import { kubeContract } from '../test/support/kube-contract.ts';
import { widgetResource } from '../test/support/kube-contract/widget.ts';
import { startApiServerDouble } from '../test/support/api-server-double/index.ts';

kubeContract('the double', () => startApiServerDouble({ resources: [widgetResource] }));
