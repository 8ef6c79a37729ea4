/**
 * Which room may import which (docs/architecture.md) as failing rules.
 * @type {import('dependency-cruiser').IConfiguration}
 */
const PRODUCT = '^(src|workflows|activities)/';
const ENTRIES = '^src/(worker|receiver|build-workflow-bundle|make-ledger-template)\\.ts$';
const LEAVES = `^src/cli/|${ENTRIES}`;

/** Rooms that a room imports, and those of which it knows types alone: their values are handed to it. */
const ROOMS = {
  'src/domain': { values: [] },
  'src/texts': { values: ['src/domain'] },
  'src/platform': { values: ['src/domain'] },
  'src/ingest': { values: ['src/domain'] },
  'src/database': { values: ['src/domain'] },
  'src/ledger': { values: ['src/domain', 'src/platform', 'src/database'] },
  'src/service': { values: ['src/domain', 'src/platform'], types: ['src/ledger'] },
  'src/webhooks': { values: ['src/domain', 'src/platform', 'src/service/profile'], types: ['src/ledger'] },
  'src/report': { values: ['src/domain', 'src/platform', 'src/texts'], types: ['src/ledger'] },
  'src/nightly': {
    values: ['src/domain', 'src/platform', 'src/report', 'src/texts'],
    types: ['activities', 'workflows', 'src/app/config'],
  },
  'src/console': {
    values: ['src/domain', 'src/platform', 'src/texts'],
    types: ['src/ledger', 'src/nightly', 'src/report', 'src/service'],
  },
  workflows: { values: ['src/domain', 'src/texts'], types: ['activities'] },
  activities: {
    values: ['src/domain', 'src/platform', 'src/texts'],
    types: ['src/ledger', 'src/nightly', 'src/report', 'src/service'],
  },
  /** The sandbox is the judge of exactly-once: code shared with the client would hide the same mistake on both sides. */
  'src/sandbox': { values: [] },
};

const roomRules = Object.entries(ROOMS).flatMap(([room, { values, types = [] }]) => {
  const allowed = (rooms) => [room, ...rooms].join('|');
  const rule = (what, to) => ({
    name: `${room}-imports-only-${what}`,
    severity: 'error',
    from: { path: `^${room}/` },
    to: { path: PRODUCT, ...to },
  });
  return [
    rule('its-rooms', { pathNot: `^(${allowed([...values, ...types])})/` }),
    rule('types-of-what-it-is-given', { pathNot: `^(${allowed(values)})/`, dependencyTypesNot: ['type-only'] }),
  ];
});

module.exports = {
  forbidden: [
    ...roomRules,
    {
      name: 'the-domain-stays-pure',
      comment: 'Workflows, steps and reports read it: it runs in the workflow sandbox and needs no set-up in a test.',
      severity: 'error',
      from: { path: '^src/domain/', pathNot: '^src/domain/messages/' },
      to: { pathNot: '^src/domain/|(^|/)node_modules/(@types/)?big\\.js/|^(node:)?crypto$' },
    },
    {
      name: 'only-the-fingerprint-hashes',
      comment:
        'The workflow bundle has no node:crypto: to import the hash there would break every worker at its start.',
      severity: 'error',
      from: { path: '^(workflows|src/domain)/', pathNot: '^src/domain/fingerprint\\.ts$' },
      to: { path: '^src/domain/fingerprint\\.ts$|^(node:)?crypto$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'workflows-use-no-package-but-temporal',
      comment: 'The workflow bundle must stay small and deterministic; zod and Node are not in it.',
      severity: 'error',
      from: { path: '^workflows/' },
      to: {
        dependencyTypes: ['npm', 'npm-dev', 'npm-peer', 'core', 'npm-no-pkg', 'npm-unknown'],
        pathNot: '(^|/)node_modules/@temporalio/(workflow|common)/',
      },
    },
    {
      name: 'only-the-start-knows-the-sandbox',
      severity: 'error',
      from: { path: PRODUCT, pathNot: `^src/(sandbox|app)/|${LEAVES}` },
      to: { path: '^src/sandbox/' },
    },
    {
      name: 'the-instruments-are-loaded-only-when-they-are-on',
      comment: 'They cost memory and time at every start.',
      severity: 'error',
      from: { path: PRODUCT, pathNot: '^src/health/(metrics|traces)/' },
      to: { path: '^src/health/(metrics|traces)/', dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'only-the-instruments-know-opentelemetry',
      severity: 'error',
      from: { path: PRODUCT, pathNot: '^src/health/' },
      to: { path: '(^|/)node_modules/(@opentelemetry|@temporalio/interceptors-opentelemetry)/' },
    },
    {
      name: 'commands-and-entry-points-are-not-imported',
      comment: 'What another file needs of them belongs further down.',
      severity: 'error',
      from: { path: PRODUCT, pathNot: LEAVES },
      to: { path: LEAVES },
    },
    {
      name: 'the-product-needs-no-tests-and-no-development-dependency',
      comment: 'The image has neither.',
      severity: 'error',
      from: { path: PRODUCT },
      to: { path: '^(test|bench)/|(^|/)node_modules/(vitest|@vitest|fast-check|playwright-core|axe-core)/' },
    },
    {
      name: 'the-image-has-no-development-dependency',
      severity: 'error',
      from: { path: PRODUCT },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'], pathNot: 'node_modules/@types/' },
    },
    {
      name: 'every-import-resolves-to-a-declared-package',
      severity: 'error',
      from: { path: PRODUCT },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'unknown', 'undetermined'] },
    },
    { name: 'there-are-no-circles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'there-are-no-orphans',
      severity: 'error',
      from: { orphan: true, path: PRODUCT, pathNot: '\\.d\\.ts$' },
      to: {},
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^dist/' },
    tsPreCompilationDeps: true,
    detectProcessBuiltinModuleCalls: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json', '.d.ts'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
