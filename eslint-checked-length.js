/**
 * A lint rule: memory is allocated by a length that is known to be bounded. It looks at `new Uint8Array(n)` and the
 * other typed arrays, `new ArrayBuffer(n)`, `new Array(n)`, `Array.from({ length: n })`, `Buffer.alloc(n)` and its
 * unsafe sisters.
 *
 * n is bounded when it is made, by + − × ÷ and the like, of
 *
 *   numbers, and constants in capitals              64, PAGE_BYTES, X.HEAD_BYTES
 *   the length of what is held already              bytes.length, view.byteLength, map.size without arguments
 *   Math.min with a bounded argument; Math.max and other functions of Math with bounded arguments only
 *   checkedLength(n, most)                          throws when n is more than `most`, which has to be bounded
 *   functions that only round or add up (SUMS)      pad8(n) of a bounded n
 *   variables that are assigned nothing else
 *   variables that a comparison has led out by      if (n > body.length) return undefined;
 *   what is compared around it                      if (c.bytes <= MOST) … Buffer.alloc(c.bytes)
 *
 * Anything else, as a parameter or a field of a message, needs one of these. The rule reads one function at a time, and
 * believes a comparison without understanding it: it finds what nobody has thought of, not what was thought of wrongly.
 */
const BYTES = new Set(['alloc', 'allocUnsafe', 'allocUnsafeSlow']);
const ARRAYS = /^(Array|ArrayBuffer|SharedArrayBuffer|((Big)?(Ui|I)nt|Float)(8|16|32|64)(Clamped)?Array)$/;
const LENGTHS = new Set(['length', 'byteLength']);
const SUMS = new Set(['pad8', 'frameBytes', 'blockBytes', 'recordBytes', 'Number']);
/** Methods that answer with bytes. */
const CONTENTS = new Set(['subarray', 'slice', 'from', 'concat', 'arrayBuffer', 'encode']);
const CONSTANT = /^#?[A-Z][A-Z0-9_]*$/;
const LEADS_OUT = new Set(['ReturnStatement', 'ThrowStatement', 'ContinueStatement', 'BreakStatement']);
const COMPARES = new Set(['>', '>=', '<', '<=']);

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression', 'Program']);

function variableOf(scope, name) {
  for (let s = scope; s; s = s.upper) if (s.set.has(name)) return s.set.get(name);
  return undefined;
}

/** What the nodes below and at `node` are. */
function* parts(node, keys) {
  yield node;
  for (const key of keys[node.type] ?? [])
    for (const child of [node[key]].flat()) if (child && typeof child.type === 'string') yield* parts(child, keys);
}

export const checkedLength = {
  meta: {
    type: 'problem',
    docs: { description: 'memory is allocated by a length that is known to be bounded' },
    messages: {
      unchecked:
        'Nothing here bounds this length: compare it and leave, take Math.min, or write checkedLength(n, most) of ' +
        '@mayfly/wire (eslint-checked-length.js).',
    },
    schema: [],
  },
  create(context) {
    const { sourceCode } = context;
    const keys = sourceCode.visitorKeys;

    const names = (node) => new Set([...parts(node, keys)].filter((n) => n.type === 'Identifier').map((n) => n.name));

    /** Comparisons that let control come to `at`: those before it that lead out otherwise, and those around it. */
    function* guards(at) {
      let f = at;
      while (!FUNCTIONS.has(f.type)) {
        const { parent } = f;
        if ((parent.type === 'IfStatement' || parent.type === 'ConditionalExpression') && parent.consequent === f)
          yield* comparisons(parent.test);
        f = parent;
      }
      for (const node of parts(f, keys)) {
        if (node.type !== 'IfStatement' || node.range[0] > at.range[0]) continue;
        const out = node.consequent.type === 'BlockStatement' ? node.consequent.body.at(-1) : node.consequent;
        if (out && LEADS_OUT.has(out.type)) yield* comparisons(node.test);
      }
    }
    function* comparisons(test) {
      for (const n of parts(test, keys)) if (n.type === 'BinaryExpression' && COMPARES.has(n.operator)) yield n;
    }

    /** The expression is in such a comparison. */
    const compared = (node, at) => {
      const text = sourceCode.getText(node);
      for (const test of guards(at))
        for (const n of parts(test, keys)) if (n.type === node.type && sourceCode.getText(n) === text) return true;
      return false;
    };

    /** The variable is in one, or a variable that is made of it. */
    function guarded(variable, at) {
      for (const test of guards(at))
        for (const name of names(test)) {
          if (name === variable.name) return true;
          const init = variableOf(sourceCode.getScope(test), name)?.defs[0]?.node?.init;
          if (init && names(init).has(variable.name)) return true;
        }
      return false;
    }

    /** Everything that is ever assigned to it is bounded. */
    function boundedVariable(variable, at, seen) {
      if (seen.has(variable)) return true;
      const now = new Set(seen).add(variable);
      const writes = variable.references.filter((r) => r.isWrite());
      return (
        writes.length > 0 &&
        variable.defs.every((d) => d.type === 'Variable' && d.node.id.type === 'Identifier') &&
        writes.every((r) => r.writeExpr && bounded(r.writeExpr, at, now))
      );
    }

    function bounded(node, at, seen = new Set()) {
      const all = (nodes) => nodes.every((n) => bounded(n, at, seen));
      switch (node.type) {
        case 'Literal':
          return typeof node.value === 'number';
        case 'UnaryExpression':
        case 'TSAsExpression':
        case 'TSNonNullExpression':
        case 'ChainExpression':
        case 'UpdateExpression':
          return bounded(node.argument ?? node.expression, at, seen);
        case 'BinaryExpression':
          // Of a division, of a remainder and of a mask one side is enough.
          if (node.operator === '&') return bounded(node.left, at, seen) || bounded(node.right, at, seen);
          if (node.operator === '%') return bounded(node.right, at, seen);
          if (node.operator === '-' || node.operator === '/' || node.operator === '>>' || node.operator === '>>>')
            return bounded(node.left, at, seen);
          return all([node.left, node.right]);
        case 'LogicalExpression':
          return all([node.left, node.right]);
        case 'ConditionalExpression':
          return all([node.consequent, node.alternate]);
        case 'Identifier': {
          if (CONSTANT.test(node.name)) return true;
          const variable = variableOf(sourceCode.getScope(node), node.name);
          return variable !== undefined && (guarded(variable, at) || boundedVariable(variable, at, seen));
        }
        case 'MemberExpression':
          return (
            !node.computed &&
            (CONSTANT.test(node.property.name) || LENGTHS.has(node.property.name) || compared(node, at))
          );
        case 'CallExpression': {
          const { callee, arguments: args } = node;
          if (callee.type === 'MemberExpression' && callee.object.name === 'Math')
            return callee.property.name === 'min' ? args.some((a) => bounded(a, at, seen)) : all(args);
          // A sum over what is held: n + x.length.
          if (callee.type === 'MemberExpression' && callee.property.name === 'reduce' && args.length === 2) {
            const [add, from] = args;
            if (!/Function/.test(add.type) || add.body.type === 'BlockStatement' || !bounded(from, at, seen))
              return false;
            const sum = add.params[0] && variableOf(sourceCode.getScope(add.body), add.params[0].name);
            return bounded(add.body, at, sum ? new Set(seen).add(sum) : seen);
          }
          if (callee.name === 'checkedLength') return args.length === 2 && bounded(args[1], at, seen);
          return SUMS.has(callee.name) && args.every((a) => a.type !== 'Identifier' || bounded(a, at, seen));
        }
        default:
          return false;
      }
    }

    /** An argument that is not a number, but bytes that are copied or looked at: no allocation by a length. */
    function isContent(node) {
      switch (node.type) {
        case 'ArrayExpression':
        case 'NewExpression':
          return true;
        case 'AwaitExpression':
          return isContent(node.argument);
        case 'LogicalExpression':
          return isContent(node.right);
        case 'MemberExpression':
          return !node.computed && node.property.name === 'buffer';
        case 'CallExpression':
          return CONTENTS.has(node.callee.property?.name);
        case 'Identifier': {
          const type = variableOf(sourceCode.getScope(node), node.name)?.defs[0]?.name?.typeAnnotation?.typeAnnotation;
          return ARRAYS.test(type?.typeName?.name ?? '') || type?.typeName?.name === 'Buffer';
        }
        default:
          return false;
      }
    }

    function judge(node, length, known = false) {
      if (!length || length.type === 'SpreadElement' || (!known && isContent(length))) return;
      if (!bounded(length, node)) context.report({ node: length, messageId: 'unchecked' });
    }

    return {
      NewExpression(node) {
        // More arguments make a view of a buffer, or name the elements.
        if (node.callee.type === 'Identifier' && ARRAYS.test(node.callee.name) && node.arguments.length === 1)
          judge(node, node.arguments[0]);
      },
      CallExpression(node) {
        const { callee, arguments: args } = node;
        if (callee.type !== 'MemberExpression' || callee.computed) return;
        if (callee.object.name === 'Buffer' && BYTES.has(callee.property.name)) judge(node, args[0], true);
        if (callee.object.name !== 'Array' || callee.property.name !== 'from' || args[0]?.type !== 'ObjectExpression')
          return;
        const length = args[0].properties.find((p) => p.key?.name === 'length');
        if (length) judge(node, length.value, true);
      },
    };
  },
};
