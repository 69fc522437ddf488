/** Shows in a document which operations take an `Idempotency-Key`: the generator does not see the header. */
import { HttpApi, type HttpApiGroup } from "effect/http-api"
import { Idempotency, idempotencyKeyPattern } from "#http/middleware/Idempotency.ts"
import { templateOf } from "#http/templateOf.ts"

const parameter = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "Names this request. Sent again within 24 hours with the same body it is answered as it was the first time, with `Idempotent-Replayed: true`, and nothing is done again; another body is refused. A request that was refused frees its key.",
  schema: {
    type: "string",
    pattern: idempotencyKeyPattern.source,
    example: "6f1d3c1e-5b0e-4f0e-9d55-0a9b6a3a2a11"
  }
}

interface Operation {
  parameters: Array<unknown>
}

/** Describes the header, in place. */
export const finishIdempotency = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  generated: Record<string, unknown>,
  api: HttpApi.HttpApi<Id, Groups>
): void => {
  const paths = generated["paths"] as Readonly<Record<string, Readonly<Record<string, Operation>>>>
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, middleware }) => {
      if ([...middleware].some(({ key }) => key === Idempotency.key))
        paths[templateOf(endpoint.path)]![endpoint.method.toLowerCase()]!.parameters.push(parameter)
    }
  })
}
