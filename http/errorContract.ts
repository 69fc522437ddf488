/**
 * Gives a domain error its form on the v2 wire: the envelope with the code and status of the class's own contract.
 *
 * No code is written here; domain/errors/Errors.ts has them. Source: interface "v2 envelope".
 */
import { Schema, SchemaTransformation } from "effect"
import { HttpApiSchema } from "effect/http-api"
import type { DomainError } from "#domain/errors/DomainError.ts"
import type { ErrorContract, RateLimited } from "#domain/errors/Errors.ts"
import { envelopeV2 } from "#http/envelopes.ts"

/** A class of domain/errors/Errors.ts. */
export interface ErrorClass<E extends DomainError> extends Schema.Top {
  readonly Type: E
  readonly contract: ErrorContract
  new (props: DomainError): E
}

const envelope = ({ code, meaning, status }: ErrorContract, name: string) =>
  Schema.Struct({
    success: Schema.Literal(false),
    error: Schema.Struct({
      code: Schema.Literal(code),
      message: Schema.String.annotate({ description: "What is wrong and what to do next.", examples: [meaning] }),
      details: Schema.optionalKey(
        Schema.Array(Schema.String).annotate({
          description: "One line a problem, as `field.path: reason`; left out when the message is complete."
        })
      )
    })
  }).annotate({
    identifier: name,
    description: `\`${code}\`: ${meaning}`,
    httpApiStatus: status,
    // Whole, so that no example shows details of another code.
    examples: [{ success: false, error: { code, message: meaning } }]
  })

/** The schema of one error class for the `error` list of an endpoint or a middleware. */
export const wire = <E extends DomainError>(
  self: ErrorClass<E>,
  name: string
): Schema.Codec<E, ReturnType<typeof envelopeV2>> =>
  envelope(self.contract, name).pipe(
    Schema.decodeTo(
      Schema.toType(self) as Schema.Codec<E>,
      SchemaTransformation.transform({ decode: (body) => new self(body.error), encode: envelopeV2 })
    ),
    HttpApiSchema.status(self.contract.status)
  )

/** Declares an error like `wire`, with the seconds to wait in `Retry-After`. */
export const wireRetry = (self: typeof RateLimited) =>
  self.pipe(
    HttpApiSchema.encodeToWithHeaders(
      {
        body: envelope(self.contract, "RateLimited"),
        headers: { "retry-after": Schema.FiniteFromString }
      },
      {
        decode: ({ body, headers }) => new self({ ...body.error, retryAfterSeconds: headers["retry-after"] }),
        encode: (error) => ({ body: envelopeV2(error), headers: { "retry-after": error.retryAfterSeconds } })
      }
    )
  )
