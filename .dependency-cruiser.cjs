/**
 * Import direction (docs/decisions/processes.md) as failing rules. Read each name as a sentence: "the domain stays pure".
 * @type {import('dependency-cruiser').IConfiguration}
 */
const STEPS = ['drop', 'ingest', 'ledger', 'service', 'webhooks', 'report'];
const PRODUCT = '^(src|workflows|activities)/';
const LEAVES = '^src/(cli/|worker\\.ts$|receiver\\.ts$|build-workflow-bundle\\.ts$|make-ledger-template\\.ts$)';

const stepsNeverImportEachOther = STEPS.map((step) => ({
  name: `the-${step}-step-imports-no-other-step`,
  comment:
    'Steps meet only through the ports in src/domain: adapters are injected, so that each step can be tested and replaced alone.',
  severity: 'error',
  from: { path: `^src/${step}/` },
  to: { path: `^src/(${STEPS.filter((other) => other !== step).join('|')})/` },
}));

const stepsImportOnlyTheDomain = {
  name: 'a-step-imports-only-the-domain-of-the-product',
  comment:
    'A step that reaches for runtime, console, sandbox, cli or workflows cannot be wired differently by an entry point.',
  severity: 'error',
  from: { path: `^src/(${STEPS.join('|')})/` },
  to: {
    path: PRODUCT,
    pathNot: `^src/(concurrency|domain|file-system|network|service-profile|texts|${STEPS.join('|')})/`,
  },
};

module.exports = {
  forbidden: [
    {
      name: 'the-domain-stays-pure',
      comment:
        'The domain is read by workflows, steps and reports alike: it imports itself and big.js, so that it runs in the workflow sandbox and needs no set-up in a test.',
      severity: 'error',
      from: { path: '^src/domain/', pathNot: '^src/domain/fingerprint\\.ts$' },
      to: { pathNot: '^src/domain/|(^|/)node_modules/(@types/)?big\\.js/' },
    },
    {
      name: 'the-fingerprint-file-adds-only-sha-256',
      comment: 'One file of the domain hashes; node:crypto is the only thing of Node it may touch.',
      severity: 'error',
      from: { path: '^src/domain/fingerprint\\.ts$' },
      to: { pathNot: '^src/domain/|(^|/)node_modules/(@types/)?big\\.js/|^(node:)?crypto$' },
    },
    {
      name: 'workflows-and-the-rest-of-the-domain-never-import-the-hashing-file',
      comment:
        'node:crypto does not exist in the workflow bundle: importing the hash there, or in a domain file that workflows import, would break every worker at its start.',
      severity: 'error',
      from: { path: '^(workflows|src/domain)/' },
      to: { path: '^src/domain/fingerprint\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    ...stepsNeverImportEachOther,
    stepsImportOnlyTheDomain,
    {
      name: 'concurrency-knows-nothing-of-the-product',
      comment: 'Semaphores and batchers serve every step; one that knew a step could serve no other.',
      severity: 'error',
      from: { path: '^src/concurrency/' },
      to: { path: PRODUCT, pathNot: '^src/concurrency/' },
    },
    {
      name: 'the-network-knows-only-the-domain',
      comment: 'Every server listens in the same way; a word of one of them here would be wrong for the others.',
      severity: 'error',
      from: { path: '^src/network/' },
      to: { path: PRODUCT, pathNot: '^src/(domain|network)/' },
    },
    {
      name: 'the-service-profile-knows-only-the-domain',
      comment:
        'The profile says how the service speaks; requests, answers and deliveries are read by it in several steps, and it knows none of them.',
      severity: 'error',
      from: { path: '^src/service-profile/' },
      to: { path: PRODUCT, pathNot: '^src/(domain|service-profile)/' },
    },
    {
      name: 'the-texts-know-only-the-domain',
      comment:
        'Words, numbers and dates for people are needed by steps, activities, workflows and the console alike; one that knew a reader could serve no other.',
      severity: 'error',
      from: { path: '^src/texts/' },
      to: { path: PRODUCT, pathNot: '^src/(domain|texts)/' },
    },
    {
      name: 'the-contract-knows-only-the-domain',
      comment:
        'Messages between starters, workflows and activities: each side imports them, so that they import none of the sides.',
      severity: 'error',
      from: { path: '^src/contract/' },
      to: { path: PRODUCT, pathNot: '^src/(contract|domain)/' },
    },
    {
      name: 'workflows-import-only-the-domain-and-types-of-activities',
      comment:
        'Workflow code is replayed: an adapter, or an activity pulled in by value, would run inside the deterministic sandbox.',
      severity: 'error',
      from: { path: '^workflows/' },
      to: { path: '^(src|activities)/', pathNot: '^src/(contract|domain|texts)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'workflows-know-no-other-folder-even-by-type',
      comment:
        'Types of a step in a workflow tie a replayed history to that step; the ports in src/domain are the contract.',
      severity: 'error',
      from: { path: '^workflows/' },
      to: { path: '^src/', pathNot: '^src/(contract|domain|texts)/' },
    },
    {
      name: 'workflows-use-no-package-but-temporal-and-what-the-domain-uses',
      comment: 'The workflow bundle must stay small and deterministic; zod and Node are not in it.',
      severity: 'error',
      from: { path: '^workflows/' },
      to: {
        dependencyTypes: ['npm', 'npm-dev', 'npm-peer', 'core', 'npm-no-pkg', 'npm-unknown'],
        pathNot: '(^|/)node_modules/@temporalio/(workflow|common)/',
      },
    },
    {
      name: 'activities-get-their-adapters-injected',
      comment: 'An activity that imports a step, the runtime or the command line cannot be given another adapter.',
      severity: 'error',
      from: { path: '^activities/' },
      to: { path: '^(src|workflows)/', pathNot: '^src/(concurrency|contract|domain|texts)/' },
    },
    {
      name: 'the-sandbox-shares-nothing-with-the-product',
      comment:
        'The sandbox is the judge of exactly-once: code shared with the client would hide the same mistake on both sides.',
      severity: 'error',
      from: { path: '^src/sandbox/' },
      to: { path: PRODUCT, pathNot: '^src/sandbox/' },
    },
    {
      name: 'the-product-shares-nothing-with-the-sandbox',
      comment: 'Only the places that wire may know that the service can be simulated.',
      severity: 'error',
      from: { path: PRODUCT, pathNot: `^src/(sandbox|wiring)/|${LEAVES}` },
      to: { path: '^src/sandbox/' },
    },
    {
      name: 'the-console-reads-through-ports',
      comment: 'The console shows the ledger; given ports, it works on any ledger and in a test without one.',
      severity: 'error',
      from: { path: '^src/console/' },
      to: { path: PRODUCT, pathNot: '^src/(domain|console|network|texts)/' },
    },
    {
      name: 'the-runtime-knows-only-the-domain',
      comment:
        'Processes, ports and configuration are below every step; importing upwards would make a circle of the start order.',
      severity: 'error',
      from: { path: '^src/runtime/' },
      to: { path: PRODUCT, pathNot: '^src/(domain|file-system|network|runtime)/' },
    },
    {
      name: 'the-file-system-knows-only-the-domain',
      comment:
        'Folders and their faults are below every step and every process; importing upwards would make a circle.',
      severity: 'error',
      from: { path: '^src/file-system/' },
      to: { path: PRODUCT, pathNot: '^src/(domain|file-system)/' },
    },
    {
      name: 'the-telemetry-knows-only-the-domain',
      comment: 'It observes parts through their ports; one that knew a part could not be taken away from it.',
      severity: 'error',
      from: { path: '^src/telemetry/' },
      to: { path: PRODUCT, pathNot: '^src/(domain|telemetry)/' },
    },
    {
      name: 'only-the-wiring-knows-the-telemetry',
      comment: 'Parts are observed from outside: none of them calls an instrument.',
      severity: 'error',
      from: { path: PRODUCT, pathNot: `^src/(telemetry|wiring)/|${LEAVES}` },
      to: { path: '^src/telemetry/' },
    },
    {
      name: 'the-telemetry-is-loaded-only-when-it-is-on',
      comment: 'Only its port may be imported at the start; everything behind it costs memory and time.',
      severity: 'error',
      from: { path: PRODUCT, pathNot: '^src/telemetry/' },
      to: {
        path: '^src/telemetry/',
        pathNot: '^src/telemetry/telemetry\\.ts$',
        dynamic: false,
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'metrics-and-traces-are-loaded-apart',
      comment: 'Each is on by a variable of its own.',
      severity: 'error',
      from: { path: '^src/telemetry/[^/]+\\.ts$' },
      to: { path: '^src/telemetry/[^/]+/', dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'only-the-telemetry-knows-opentelemetry',
      comment: 'Another library for metrics or traces changes this folder and no other.',
      severity: 'error',
      from: { path: PRODUCT, pathNot: '^src/telemetry/' },
      to: { path: '(^|/)node_modules/(@opentelemetry|@temporalio/interceptors-opentelemetry)/' },
    },
    {
      name: 'nobody-imports-a-leaf',
      comment: 'Entry points and commands wire; whatever another file needs of them belongs further down.',
      severity: 'error',
      from: { path: PRODUCT, pathNot: LEAVES },
      to: { path: LEAVES },
    },
    {
      name: 'the-product-holds-no-test-code',
      comment: 'What only tests and benches need must not be shipped.',
      severity: 'error',
      from: { path: PRODUCT },
      to: { path: '^(test|bench)/|(^|/)node_modules/(vitest|@vitest|fast-check|playwright-core|axe-core)/' },
    },
    {
      name: 'the-product-needs-no-development-dependency',
      comment: 'The image is installed without them and would break at the first import.',
      severity: 'error',
      from: { path: PRODUCT },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'], pathNot: 'node_modules/@types/' },
    },
    {
      name: 'every-import-resolves-to-a-declared-package',
      comment: 'A package that is here only because another brought it goes away with that one.',
      severity: 'error',
      from: { path: PRODUCT },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'unknown', 'undetermined'] },
    },
    {
      name: 'there-are-no-circles',
      comment: 'Of two files in a circle neither can be read, tested or moved alone.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'there-are-no-orphans',
      comment:
        'A file that nobody imports and that imports nobody is forgotten code; declarations of types are not imported.',
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
