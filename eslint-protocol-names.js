/**
 * A lint rule: only the folder of a V-protocol names it. Whatever else depends on the protocol of a job asks its
 * manifest or one of its policies, so that the next protocol is a folder (packages/protocols/DESIGN.md).
 *
 * The rule knows the names that are no common words; `app` and `none` are.
 */
const NAMES = new Set(['pessimistic', 'vcl', 'pcl', 'hc3i']);

export const protocolNames = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { named: 'Ask the manifest or a policy of the protocol: only its own folder names "{{name}}".' },
  },
  create: (context) => ({
    Literal(node) {
      if (NAMES.has(node.value)) context.report({ node, messageId: 'named', data: { name: node.value } });
    },
    TemplateElement(node) {
      if (NAMES.has(node.value.cooked)) context.report({ node, messageId: 'named', data: { name: node.value.cooked } });
    },
  }),
};
