/**
 * The one rule that oxlint lacks: `total += await work()` reads `total` before the wait and writes it after, so counts of
 * concurrent loops are lost (seen: 1000 instead of 5000). ESLint calls the wider rule `require-atomic-updates`.
 */
const requireAtomicUpdates = {
  meta: {
    type: 'problem',
    docs: {
      description: 'Await into a const first, then update: the value read before the wait may be stale after it.',
    },
    messages: {
      stale: '`{{name}}` is read before the await and written after it: await into a const first, then update.',
    },
  },
  create(context) {
    return {
      AssignmentExpression(node) {
        const compound = node.operator !== '=' && !LOGICAL_ASSIGNMENTS.has(node.operator);
        const name = context.sourceCode.getText(node.left);
        if (!containsAwait(node.right)) return;
        if (compound || readsBeforeAwait(node.right, name, context)) {
          context.report({ node, messageId: 'stale', data: { name } });
        }
      },
    };
  },
};

/** `cache ??= await load()` is a lazy initialisation: it cannot lose a count. */
const LOGICAL_ASSIGNMENTS = new Set(['??=', '||=', '&&=']);

function isNode(value) {
  return typeof value === 'object' && value !== null && typeof value.type === 'string';
}

function children(node) {
  return Object.entries(node)
    .filter(([key]) => key !== 'parent')
    .flatMap(([, value]) => (Array.isArray(value) ? value : [value]))
    .filter(isNode);
}

/** Awaits of the function itself; those of a function inside it run at another time. */
function containsAwait(node) {
  if (node.type === 'AwaitExpression') return true;
  if (node.type.includes('Function')) return false;
  return children(node).some(containsAwait);
}

/** `total = total + (await work())`: the same loss, written out. */
function readsBeforeAwait(node, name, context) {
  return (
    node.type === 'BinaryExpression' &&
    [node.left, node.right].some((side) => context.sourceCode.getText(side) === name) &&
    containsAwait(node)
  );
}

export default { meta: { name: 'lote' }, rules: { 'require-atomic-updates': requireAtomicUpdates } };
