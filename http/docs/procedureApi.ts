/**
 * The API of v1 with its procedures as routes of the interface's wire, for its descriptions alone: each is derived from
 * the contract that the wire itself serves, so none is described that is not there.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import type { DescribedProcedure, ProcedureError } from "#http/docs/DescribedProcedures.ts"
import { V1 } from "#http/v1/Api.ts"

const described = <S extends Schema.Top>(schema: S, description: string) => schema.annotate({ description })

const wrapped = (schema: Schema.Top, { isAction }: DescribedProcedure) =>
  isAction ? schema : Schema.Struct({ json: schema })

const answerOf = (procedure: DescribedProcedure) => {
  const data = described(wrapped(procedure.output, procedure), "What the procedure answers.")
  const body = Schema.Struct({ result: described(Schema.Struct({ data }), "The answer.") })
  return procedure.isStream ? [HttpApiSchema.StreamSse({ data: body }), HttpApiSchema.NoContent] : [body]
}

const made = new Map<string, Schema.Top>()

/** One schema for each error and form, so that the document has it once. */
const errorOf = (error: ProcedureError, procedure: DescribedProcedure) => {
  const key = `${procedure.isAction} ${error.name}`
  const schema = made.get(key) ?? makeError(error, procedure)
  made.set(key, schema)
  return schema
}

const makeError = (
  { contract: { code, meaning, status }, name }: ProcedureError,
  procedure: DescribedProcedure
): Schema.Top => {
  const fields = Schema.Struct({
    code: Schema.Literal(code),
    message: Schema.String.annotate({ description: "What is wrong and what to do next.", examples: [meaning] }),
    details: Schema.optionalKey(
      Schema.Array(Schema.String).annotate({ description: "One line a problem, as `field.path: reason`." })
    )
  })
  const example = { code, message: meaning }
  return Schema.Struct({ error: described(wrapped(fields, procedure), "What went wrong.") })
    .annotate({
      identifier: `${procedure.isAction ? "Action" : "Procedure"}${name}`,
      description: `\`${code}\`: ${meaning}`,
      examples: [{ error: procedure.isAction ? example : { json: example } }]
    })
    .pipe(HttpApiSchema.status(status))
}

/** `v2.executions.get` as `v2ExecutionsGet`. */
const idOf = (tag: string) => tag.replaceAll(/\.(.)/gu, (_, first: string) => first.toUpperCase())

const needs = { apiKey: "an API key", session: "a wallet session", operator: "the operator's token" }

const textOf = ({ isAction, isRead, isStream, security, tag, tier }: DescribedProcedure): string =>
  [
    `The procedure \`${tag}\`. Its input stands in \`${isAction ? "input" : "json"}\`.`,
    ...(isStream ? ["Answered as server-sent events; `data` of each is the body below."] : []),
    ...(isRead
      ? ["It changes nothing, and is also answered on GET with the same body, URL-encoded, as `?input=`."]
      : []),
    security.length === 0 ? "No key needed." : `Needs ${security.map((one) => needs[one]).join(" or ")}.`,
    ...(tier === undefined ? [] : [`Rate limit tier: ${tier}.`])
  ].join(" ")

const annotationsOf = (procedure: DescribedProcedure, id: string) =>
  OpenApi.annotations({
    identifier: id,
    summary: `Call ${procedure.tag}`,
    description: textOf(procedure),
    override: { security: procedure.security.map((scheme) => ({ [scheme]: [] })) }
  })

/** Its types are of no use to a description, and as many as there are procedures. */
const endpointOf = (procedure: DescribedProcedure): HttpApiEndpoint.Constraint => {
  const path = `/v1/rpc/${procedure.tag}` as const
  const success = answerOf(procedure)
  const error = procedure.errors.map((one) => errorOf(one, procedure))
  const input = described(procedure.input ?? Schema.Struct({}), "The input.")
  const key = procedure.isAction ? "input" : "json"
  const body = Schema.Struct({ [key]: procedure.input === undefined ? Schema.optionalKey(input) : input })
  const post = HttpApiEndpoint.post(idOf(procedure.tag), path, {
    payload: body as never,
    success: success as never,
    error: error as never
  })
  return post.annotateMerge(annotationsOf(procedure, idOf(procedure.tag)))
}

const groupOf = (name: string, procedures: ReadonlyArray<DescribedProcedure>): HttpApiGroup.Constraint =>
  HttpApiGroup.make(`procedures:${name}`)
    .annotate(OpenApi.Title, `Procedures ${name}`)
    .annotate(OpenApi.Description, `Procedures whose names begin with \`${name}.\`.`)
    .add(...(procedures.map(endpointOf) as [HttpApiEndpoint.Constraint]))

/** `v2.executions.get` is of `v2.executions`. */
const namespaceOf = ({ tag }: DescribedProcedure) => tag.slice(0, tag.lastIndexOf("."))

export const procedureApi = (procedures: ReadonlyArray<DescribedProcedure>): typeof V1 => {
  const groups = [...Map.groupBy(procedures, namespaceOf)].map(([name, ofGroup]) => groupOf(name, ofGroup))
  return groups.length === 0 ? V1 : (V1.add(...(groups as [HttpApiGroup.Constraint])) as unknown as typeof V1)
}
