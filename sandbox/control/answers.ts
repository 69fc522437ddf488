/** The shapes of the control server's answers. */
import { Effect, Schema, SchemaIssue } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"

/** A request that cannot be carried out as it stands. */
export class ControlRefusal extends Schema.TaggedError<ControlRefusal>()("ControlRefusal", {
  status: Schema.Int,
  message: Schema.String,
  details: Schema.optionalKey(Schema.Array(Schema.String))
}) {}

/** 400, naming the field. */
export const badField = (field: string, problem: string) =>
  new ControlRefusal({ status: 400, message: "The request is not valid", details: [`${field}: ${problem}`] })

/** `{error: {message, details?}}` with the refusal's status. */
export const refusalResponse = ({ status, message, details }: ControlRefusal) =>
  HttpServerResponse.jsonUnsafe({ error: { message, ...(details === undefined ? {} : { details }) } }, { status })

const issues = SchemaIssue.makeFormatterStandardSchemaV1()

const detailsOf = (error: Schema.SchemaError): ReadonlyArray<string> =>
  issues(error.issue).issues.map((issue) => {
    const path = (issue.path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".")
    return `${path === "" ? "body" : path}: ${issue.message}`
  })

/** Reads the request's JSON body; unknown fields are refused like wrong ones. */
export const readBody = <A>(schema: Schema.ConstraintDecoder<A>) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const body = yield* request.json.pipe(Effect.mapError(() => badField("body", "Expected a JSON object")))
    return yield* Schema.decodeUnknownEffect(schema, { errors: "all", onExcessProperty: "error" })(body).pipe(
      Effect.mapError(
        (error) => new ControlRefusal({ status: 400, message: "The request is not valid", details: detailsOf(error) })
      )
    )
  })
