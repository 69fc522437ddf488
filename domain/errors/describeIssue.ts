/**
 * Describes what is wrong with a part of a request. The library would name types and regular expressions of ours; the
 * texts of a schema itself (`message`, `expected`) are kept. Unions are described best when the issue has its input
 * (`reportInput`); nothing that was sent is repeated.
 */
import { SchemaAST, type SchemaIssue } from "effect"
import {
  annotated,
  annotatedExample,
  exampleIn,
  fieldsOf,
  isNumeric,
  schemaUnder,
  wordsOf
} from "#domain/errors/describeSchema.ts"
import { type Problem, unionProblems } from "#domain/errors/unionProblems.ts"

/**
 * How input is read whose issues are described: to its end, and with what was sent, which distinguishes members of
 * unions.
 */
export const describedParsing = { errors: "all", reportInput: true } as const

/** Most characters of an example that is no text or number. */
const maxExampleLength = 80

/** The reason with an example, unless it shows one already. `write` puts it as it is sent. */
const withExample = (reason: string, example: unknown, write: (example: unknown) => string): string => {
  if (example === undefined || example === null || example === "") return reason
  const isPlain = typeof example === "string" || typeof example === "number"
  const text = isPlain ? write(example) : JSON.stringify(example)
  if (!isPlain && text.length > maxExampleLength) return reason
  return reason.includes(String(example)) || reason.includes("such as") ? reason : `${reason}, such as ${text}`
}

const isText = (text: string | undefined): text is string => text !== undefined

type Annotations = SchemaAST.AST["annotations"]

/** The text that a check expects; of a pattern without one, no more than that there is a form. */
const expectedBy = (annotations: Annotations): string | undefined => {
  const expected = annotated(annotations, "expected")
  return expected?.includes("RegExp") === true ? "the documented form" : expected
}

/** Where an issue is. */
interface IssueContext {
  readonly path: ReadonlyArray<PropertyKey>
  /** Schema of the value at the path. */
  readonly schema?: SchemaAST.AST | undefined
  /** The text of an enclosing check. */
  readonly reason?: string | undefined
}

const ofWrongType = ({ ast }: SchemaIssue.InvalidType | SchemaIssue.AnyOf, schema: SchemaAST.AST | undefined) => {
  if (ast._tag === "Never") return "is not a field here; leave it out"
  const message = annotated(SchemaAST.resolve(ast), "message")
  if (message !== undefined) return message
  const example = exampleIn(ast) ?? (schema === undefined ? undefined : exampleIn(schema))
  // In quotes, so that a number sent in the context of a text sees the difference.
  return withExample(`Expected ${wordsOf(ast)}`, example, JSON.stringify)
}

const reasonOf = (issue: SchemaIssue.Issue, schema: SchemaAST.AST | undefined): string => {
  switch (issue._tag) {
    case "InvalidType":
    case "AnyOf":
      return ofWrongType(issue, schema)
    case "MissingKey":
      return "is required"
    case "UnexpectedKey": {
      const fields = fieldsOf(issue.ast)
      return fields.length === 0
        ? "is not a field here; leave it out"
        : `is not a field here; the fields are ${fields.join(", ")}`
    }
    case "InvalidValue": {
      const { annotations } = issue
      const reason = annotated(annotations, "message") ?? `Expected ${expectedBy(annotations) ?? "the documented form"}`
      return withExample(reason, annotatedExample(annotations), String)
    }
    default:
      return "Expected the documented form"
  }
}

/** A check's own text; undefined when an issue inside is more precise. */
const checkReason = ({ filter, issue }: SchemaIssue.Filter, schema: SchemaAST.AST | undefined): string | undefined => {
  const message = [filter.annotations, "annotations" in issue ? issue.annotations : undefined]
    .map((annotations) => annotated(annotations, "message"))
    .find(isText)
  if (message !== undefined || issue._tag !== "InvalidValue") return message
  const expected = [issue.annotations, filter.annotations].map(expectedBy).find(isText)
  if (expected === undefined) return undefined
  const isOfNumber = schema !== undefined && isNumeric(schema)
  const example = annotatedExample(filter.annotations) ?? (isOfNumber ? exampleIn(schema) : undefined)
  return withExample(`Expected ${expected}`, example, String)
}

const describe = (issue: SchemaIssue.Issue, context: IssueContext): ReadonlyArray<Problem> => {
  const { path, reason, schema } = context
  const alone = () => [{ path, reason: reason ?? reasonOf(issue, schema) }]
  switch (issue._tag) {
    case "Filter":
      return describe(issue.issue, { ...context, reason: reason ?? checkReason(issue, schema) })
    case "Encoding":
      return describe(issue.issue, { ...context, schema: schema ?? issue.ast })
    case "Pointer":
      return describe(issue.issue, {
        path: [...path, ...issue.path],
        schema: issue.path.reduce<SchemaAST.AST | undefined>(schemaUnder, schema),
        reason
      })
    case "Composite": {
      // Of a value with several checks too, whose context is described better from around it.
      const hasParts = issue.ast._tag === "Objects" || issue.ast._tag === "Arrays"
      const inner = { ...context, schema: hasParts ? issue.ast : (schema ?? issue.ast) }
      return issue.issues.flatMap((one) => describe(one, inner))
    }
    case "AnyOf": {
      if (annotated(SchemaAST.resolve(issue.ast), "message") !== undefined) return alone()
      const ofMembers = issue.issues.map((one) => describe(one, context))
      return unionProblems(issue, path, ofMembers) ?? alone()
    }
    default:
      return alone()
  }
}

/** Where and what. */
export const describeIssue = (issue: SchemaIssue.Issue): ReadonlyArray<Problem> => describe(issue, { path: [] })

/** Most problems that one answer lists. */
const maxDetails = 50
/** Most characters of one problem; a longer one is cut, since it may quote the request. */
const maxDetailLength = 300

/** Each problem once, as `field.path: reason`; `root` stands for the whole of what was sent. */
export const detailsOf = (issue: SchemaIssue.Issue, root: string): ReadonlyArray<string> => {
  const lines = describeIssue(issue).map(({ path, reason }) => {
    const line = `${path.map(String).join(".") || root}: ${reason}`
    return line.length > maxDetailLength ? `${line.slice(0, maxDetailLength)}...` : line
  })
  return [...new Set(lines)].slice(0, maxDetails)
}
