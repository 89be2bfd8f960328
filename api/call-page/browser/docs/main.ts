/** Starts Swagger UI on the page `/docs`, with what of it differs here: nothing on it may come from another server. */

/** What is used of Swagger UI: https://swagger.io/docs/open-source-tools/swagger-ui/customization/overview/ */
interface SwaggerSystem {
  readonly React: { createElement(type: string, props: object | null, ...children: unknown[]): unknown };
}

interface Props {
  readonly children?: unknown;
  readonly text?: string;
  readonly version?: string;
}

type Component = (props: Props) => unknown;

declare const SwaggerUIBundle: {
  (options: object): void;
  readonly presets: { readonly apis: unknown };
};

/** Replaces components whatever they were. */
const replaced = (make: (system: SwaggerSystem) => Component) => (_original: unknown, system: SwaggerSystem) => make(system);

const plugin = {
  wrapComponents: {
    // Each operation's path would be a link within a button, which neither keyboards nor screen readers can tell apart.
    DeepLink: replaced(
      ({ React }) =>
        ({ text }) =>
          React.createElement('span', null, text),
    ),
    // The interface has a version of its own, next to that of the server in the header.
    VersionStamp: replaced(
      ({ React }) =>
        ({ version }) =>
          React.createElement('small', { className: 'interface-version' }, `Interface ${version}`),
    ),
    OpenAPIVersion: replaced(() => () => null),
    // This server is the only one.
    ServersContainer: replaced(() => () => null),
  },
};

const dark = matchMedia('(prefers-color-scheme: dark)');
const useScheme = (): void => void document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', useScheme);
useScheme();

SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  // The badge of a validator would come from another server.
  validatorUrl: null,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
  syntaxHighlight: { theme: 'nord' },
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [plugin],
});

/** Names of fields, by a selector: Swagger UI shows these next to them, where only eyes find them. */
const fieldNames: readonly (readonly [selector: string, name: (field: HTMLElement) => string])[] = [
  [
    'tr[data-param-name] :is(select, input, textarea)',
    (field) => field.closest<HTMLElement>('tr[data-param-name]')?.dataset['paramName'] ?? '',
  ],
  ['.body-param__text', () => 'Request body'],
  ['.examples-select-element', () => 'Example'],
  ['.content-type', () => 'Media type'],
  ['.close-modal', () => 'Close'],
];

/** Completes what Swagger UI has drawn: its fields get names, and the keyboard reaches code that can be scrolled. */
function completeFields(): void {
  for (const [selector, name] of fieldNames)
    for (const field of document.querySelectorAll<HTMLElement>(`${selector}:not([aria-label])`))
      field.setAttribute('aria-label', name(field));
  // These are called by their words, and have other names.
  for (const button of document.querySelectorAll('.modal-btn[aria-label]')) button.removeAttribute('aria-label');
  for (const code of document.querySelectorAll<HTMLElement>('pre:not([tabindex])')) code.tabIndex = 0;
}

new MutationObserver(completeFields).observe(document.body, { childList: true, subtree: true });
