/**
 * The primer for language models: an overview of the API in the form of llms.txt, made from the API value, so that it
 * cannot describe a route that is not there. Source: interface "What the service does"; llms.txt: one H1, a summary as
 * a quote, free text, then H2 sections that are lists of links.
 */
import { Context, Option } from "effect"
import { HttpApi, type HttpApiGroup, OpenApi } from "effect/http-api"
import * as Errors from "#domain/errors/Errors.ts"
import { scopes } from "#domain/values/Scopes.ts"
import { operationPagePath } from "#http/docs/operationPages.ts"
import { skipAdvice, stateAdvice } from "#http/docs/whatToDo.ts"
import { templateOf } from "#http/templateOf.ts"

interface Section {
  readonly title: string
  readonly lines: Array<string>
}

const annotation = <I>(annotations: Context.Context<never>, key: Context.Key<I, string>): string =>
  Option.getOrElse(Context.getOption(annotations as Context.Context<I>, key), () => "")

/** What a route's link may be made of. */
interface Linked {
  readonly operationId: string
  /** Tag of the route's group. */
  readonly title: string
  readonly method: string
  readonly path: string
}

const routes = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  link: (linked: Linked) => string
): ReadonlyArray<Section> => {
  const sections: Array<Section> = []
  HttpApi.reflect(api, {
    onGroup: ({ group }) => {
      sections.push({ title: annotation(group.annotations, OpenApi.Title), lines: [] })
    },
    onEndpoint: ({ endpoint, group }) => {
      const path = templateOf(endpoint.path)
      const description = annotation(endpoint.annotations, OpenApi.Description).replaceAll("\n\n", " ")
      const title = annotation(group.annotations, OpenApi.Title)
      const url = link({ operationId: endpoint.identifier, title, method: endpoint.method, path })
      sections.at(-1)?.lines.push(`- [${endpoint.method} ${path}](${url}): ${description}`)
    }
  })
  return sections
}

const advice = (title: string, lines: Readonly<Record<string, string>>): Section => ({
  title,
  lines: Object.entries(lines).map(([name, text]) => `- \`${name}\`: ${text}`)
})

const errors = (): Section => ({
  title: "Errors",
  lines: Object.values(Errors).map(
    ({ contract }) => `- \`${contract.code}\` (HTTP ${contract.status}): ${contract.meaning}`
  )
})

const primer = [
  "Send the API key in the header `x-api-key`. Success is `{success: true, data}`, a list adds `nextCursor` beside `data`; an error is `{success: false, error: {code, message, details?}}` with details of the form `field: reason`. Quote the header `X-Correlation-Id` when reporting a problem.",
  "Accounts are CAIP-10 (`eip155:0:<address>` for a user's wallet, `eip155:<chainId>:<address>` for a smart account), assets CAIP-19 (`eip155:<chainId>/erc20:<address>`). Values are decimal strings with 6 decimals, weights percentages with 2, raw amounts integers in a string; never read them as floating-point numbers. Times are ISO 8601 in UTC.",
  "A usual order of calls: create a strategy; `POST /v2/enroll/signature`; let the user's wallet sign the 32 bytes of `message.raw` with EIP-191; `POST /v2/enroll` with the values of the first answer unchanged; let the user fund the smart accounts; `POST /v2/portfolios/{portfolioId}/rebalance` (`.../rebalance/preview` shows the plan first) or wait for the schedule; poll the operation every 2 to 5 seconds until its state is `completed`, `failed` or `cancelled`; its `outcome` and `result` say what it did.",
  "Requests are strict: an unknown key of a body and an unknown name in the query are refused with 400. A 429 contains `Retry-After` in seconds. Sending stage 2 of an enrollment again with the same body is safe and gives the same answer. A POST that creates takes `Idempotency-Key`: sent again within 24 hours with the same body it is answered as it was and does nothing again."
]

export const llmsText = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  baseUrl: string,
  example: string
): string => {
  const sections: ReadonlyArray<Section> = [
    ...routes(api, ({ operationId }) => `${baseUrl}${operationPagePath(operationId)}`),
    { title: "Scopes", lines: scopes.map(({ name, tier, description }) => `- \`${name}\` (${tier}): ${description}`) },
    advice("States of an operation, and what to do", stateAdvice),
    advice("Why something was not traded, and what to do", skipAdvice),
    errors(),
    {
      title: "Optional",
      lines: [
        `- [All of it in one file](${baseUrl}/llms-full.txt): this page and every operation`,
        `- [OpenAPI 3.1](${baseUrl}/v2/openapi.json): every field, with examples`,
        `- [OpenAPI 3.1 of v1](${baseUrl}/v1/openapi.json): an operation's events as they happen, instead of polling, and the legacy routes`,
        `- [Tools for agents](${baseUrl}/mcp): every operation as a tool of the Model Context Protocol, over streamable HTTP, with the same keys, scopes and limits`,
        `- [Interactive reference](${baseUrl}/v2/docs): the same for people`
      ]
    }
  ]
  return written(api, { baseUrl: `${baseUrl}/v2`, words: [...primer, example], sections })
}

interface Page {
  readonly baseUrl: string
  /** Text before the sections. */
  readonly words: ReadonlyArray<string>
  readonly sections: ReadonlyArray<Section>
}

const written = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  { baseUrl, sections, words }: Page
): string =>
  [
    `# ${annotation(api.annotations, OpenApi.Title)}`,
    `> ${annotation(api.annotations, OpenApi.Summary)}. Base URL: ${baseUrl}`,
    ...words,
    ...sections.map(({ title, lines }) => `## ${title}\n\n${lines.join("\n")}`)
  ]
    .join("\n\n")
    .concat("\n")

const primerV1 = [
  "Procedures are called with `POST /v1/rpc/<name>` and a body `{json: input}`, answered `{result: {data: {json: output}}}`, or an error `{error: {json: {code, message, details?}}}`; `v2.portfolio.actions.*` has `input` in place of `json`, and none around its answer and its error. What changes nothing may also be called with `GET ?input=`.",
  "A person signs in with a wallet: `identity.nonce`, a message of ERC-4361 that the wallet signs, `identity.signIn`. The token goes in `Authorization: Bearer <token>`. `v2.portfolios.*` then answers with the portfolios that the wallet owns and those of the tenant that it is a member of; owners start, stop and rebalance where `ownerActions` of the tenant lets them. An API key goes in `x-api-key`. A key and a session have one limit over routes and procedures, in the tier of each; a 429 contains `Retry-After` in seconds, over Effect's RPC `retryAfterSeconds`.",
  "Follow an operation with `GET /v1/executions/{operationId}/stream`, the procedure `v2.executions.stream`, or as an agent's run with `GET /v1/ai/executions/{operationId}/ag-ui-stream`, or `POST` there as the client of AG-UI does. All give the same events with the same numbers; send the last `id` as `Last-Event-ID` to go on."
]

export const llmsTextV1 = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  baseUrl: string
): string =>
  written(api, {
    baseUrl: `${baseUrl}/v1`,
    words: primerV1,
    sections: [
      ...routes(api, ({ method, path, title }) => {
        const anchor = title.toLowerCase().replaceAll(" ", "-")
        return `${baseUrl}/v1/docs#tag/${anchor}/${method}${path}`
      }),
      errors(),
      {
        title: "Optional",
        lines: [
          `- [OpenAPI 3.1](${baseUrl}/v1/openapi.json): every field, with examples`,
          `- [Interactive reference](${baseUrl}/v1/docs): the same for people`,
          `- [The routes of v2](${baseUrl}/v2/llms.txt): strategies, portfolios, withdrawals`
        ]
      }
    ]
  })
