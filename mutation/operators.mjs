/**
 * The mutants of one source file: every small change that an operator makes of its code. Pure: a text goes in, changes
 * come out, in the order of the text.
 *
 * What only people read, or only the compiler, stays as it is: types, imports, strings, templates, what an error is
 * made of, lines for the log.
 *
 * @typedef {{ operator: string, start: number, end: number, before: string, after: string, line: number }} Change
 */
import ts from 'typescript';

const K = ts.SyntaxKind;

/** Of each operator of the language, what it becomes, and under which name. */
const BINARY = new Map([
  [
    K.LessThanToken,
    [
      ['boundary', '<='],
      ['negated', '>='],
    ],
  ],
  [
    K.LessThanEqualsToken,
    [
      ['boundary', '<'],
      ['negated', '>'],
    ],
  ],
  [
    K.GreaterThanToken,
    [
      ['boundary', '>='],
      ['negated', '<='],
    ],
  ],
  [
    K.GreaterThanEqualsToken,
    [
      ['boundary', '>'],
      ['negated', '<'],
    ],
  ],
  [K.EqualsEqualsEqualsToken, [['negated', '!==']]],
  [K.ExclamationEqualsEqualsToken, [['negated', '===']]],
  [K.EqualsEqualsToken, [['negated', '!=']]],
  [K.ExclamationEqualsToken, [['negated', '==']]],
  [K.AmpersandAmpersandToken, [['logic', '||']]],
  [K.BarBarToken, [['logic', '&&']]],
  [K.PlusToken, [['arithmetic', '-']]],
  [K.MinusToken, [['arithmetic', '+']]],
  [K.AsteriskToken, [['arithmetic', '/']]],
  [K.SlashToken, [['arithmetic', '*']]],
  [K.PercentToken, [['arithmetic', '*']]],
  [K.PlusEqualsToken, [['arithmetic', '-=']]],
  [K.MinusEqualsToken, [['arithmetic', '+=']]],
]);

const COMPARISONS = new Set(
  [...BINARY].flatMap(([kind, [[name]]]) => (name === 'boundary' || name === 'negated' ? [kind] : [])),
);
const LITERALS = new Map([
  ['0', '1'],
  ['1', '0'],
  ['0n', '1n'],
  ['1n', '0n'],
]);

/** Is it a boolean by its form? */
function truth(node) {
  if (ts.isParenthesizedExpression(node)) return truth(node.expression);
  if (ts.isPrefixUnaryExpression(node)) return node.operator === K.ExclamationToken;
  if (ts.isBinaryExpression(node)) {
    const kind = node.operatorToken.kind;
    return (
      COMPARISONS.has(kind) ||
      ((kind === K.AmpersandAmpersandToken || kind === K.BarBarToken) && truth(node.left) && truth(node.right))
    );
  }
  return (
    ts.isCallExpression(node) &&
    ts.isPropertyAccessExpression(node.expression) &&
    /^(has|some|every|includes|delete)$/.test(node.expression.name.text)
  );
}
/** Has another operator a negation of it already? */
const negatedElsewhere = (node) =>
  ts.isPrefixUnaryExpression(node) || (ts.isBinaryExpression(node) && COMPARISONS.has(node.operatorToken.kind));

/** An effect that writes a line of the log. */
const logs = (node) =>
  ts.isObjectLiteralExpression(node) &&
  node.properties.some(
    (p) =>
      ts.isPropertyAssignment(p) &&
      p.name.getText() === 'type' &&
      ts.isStringLiteral(p.initializer) &&
      p.initializer.text === 'log',
  );
/** A statement that only does that. */
const onlyLogs = (node) => ts.isCallExpression(node.expression) && node.expression.arguments.some(logs);

const functionLike = (node) => ts.isFunctionLike(node);
/** The last statement of its function: to leave there is to do nothing. */
const last = (node) =>
  ts.isBlock(node.parent) && functionLike(node.parent.parent) && node.parent.statements.at(-1) === node;
const inSwitch = (node) => {
  for (let n = node.parent; n && !functionLike(n); n = n.parent) {
    if (ts.isCaseOrDefaultClause(n)) return true;
    if (ts.isIterationStatement(n, false)) return false;
  }
  return false;
};

/** Not a word of it is code that runs, or it is text for people. */
function untouched(node) {
  if (
    ts.isImportDeclaration(node) ||
    ts.isExportDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node)
  )
    return true;
  if (ts.isTemplateExpression(node) || (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node))) return true;
  if (logs(node) || (ts.isExpressionStatement(node) && onlyLogs(node))) return true;
  return ts.isNewExpression(node) && /(Error|Violation)$/.test(node.expression.getText());
}

/**
 * @param {string} text
 * @returns {Change[]}
 */
export function changesOf(text) {
  const file = ts.createSourceFile('mutated.ts', text, ts.ScriptTarget.ES2023, true);
  /** @type {Map<string, Change>} */
  const found = new Map();
  const add = (operator, node, after) => {
    const start = node.getStart(file);
    const end = node.getEnd();
    const before = text.slice(start, end);
    // Two operators may come to the same text: that is one mutant.
    const place = `${start} ${end} ${after}`;
    if (before !== after && !found.has(place))
      found.set(place, {
        operator,
        start,
        end,
        before,
        after,
        line: file.getLineAndCharacterOfPosition(start).line + 1,
      });
  };
  const condition = (node, ...values) => {
    if (node.kind !== K.TrueKeyword && node.kind !== K.FalseKeyword)
      for (const value of values) add('condition', node, value);
  };
  const visit = (node) => {
    if (untouched(node)) return;
    if (ts.isBinaryExpression(node))
      for (const [name, after] of BINARY.get(node.operatorToken.kind) ?? []) add(name, node.operatorToken, after);
    if (ts.isPrefixUnaryExpression(node)) {
      if (node.operator === K.ExclamationToken) add('not', node, node.operand.getText(file));
      if (node.operator === K.MinusToken) add('arithmetic', node, node.operand.getText(file));
    }
    if (
      (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) &&
      (node.operator === K.PlusPlusToken || node.operator === K.MinusMinusToken)
    ) {
      const other = node.operator === K.PlusPlusToken ? '--' : '++';
      add(
        'step',
        node,
        ts.isPrefixUnaryExpression(node) ? other + node.operand.getText(file) : node.operand.getText(file) + other,
      );
    }
    if (ts.isIfStatement(node)) condition(node.expression, 'true', 'false');
    if (ts.isConditionalExpression(node)) condition(node.condition, 'true', 'false');
    // Without an end it would only hang.
    if (ts.isWhileStatement(node) || ts.isDoStatement(node)) condition(node.expression, 'false');
    if (ts.isForStatement(node) && node.condition) condition(node.condition, 'false');
    if (
      ts.isExpressionStatement(node) &&
      !(ts.isCallExpression(node.expression) && node.expression.expression.kind === K.SuperKeyword)
    )
      add('removed', node, ';');
    if (ts.isReturnStatement(node)) {
      if (!node.expression) {
        if (!last(node)) add('removed', node, ';');
      } else if (truth(node.expression) && !negatedElsewhere(node.expression))
        add('returned', node.expression, `!(${node.expression.getText(file)})`);
    }
    if (ts.isContinueStatement(node) || (ts.isBreakStatement(node) && !inSwitch(node))) add('removed', node, ';');
    if (ts.isNumericLiteral(node) || ts.isBigIntLiteral(node)) {
      const after = LITERALS.get(node.getText(file));
      if (after) add('literal', node, after);
    }
    if (node.kind === K.TrueKeyword) add('literal', node, 'false');
    if (node.kind === K.FalseKeyword) add('literal', node, 'true');
    if (ts.isArrayLiteralExpression(node) && node.elements.length > 0) add('emptied', node, '[]');
    if (ts.isObjectLiteralExpression(node) && node.properties.length > 0)
      add('emptied', node, ts.isArrowFunction(node.parent) ? '({})' : '{}');
    ts.forEachChild(node, visit);
  };
  visit(file);
  return [...found.values()].sort(
    (a, b) =>
      a.start - b.start ||
      a.end - b.end ||
      (a.operator < b.operator ? -1 : a.operator > b.operator ? 1 : a.after < b.after ? -1 : 1),
  );
}

/** @param {string} text @param {Change} c */
export const changed = (text, c) => text.slice(0, c.start) + c.after + text.slice(c.end);
