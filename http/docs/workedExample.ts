/**
 * One user's way from a strategy to the first trades, as the calls that a client makes. Bodies and answers are the
 * examples of the OpenAPI document, so that they are as true as it is. Free text without headings, as a primer in the
 * form of llms.txt has it before its lists.
 */
import type { OperationPage } from "#http/docs/operationPages.ts"

const steps: ReadonlyArray<readonly [operationId: string, why: string]> = [
  ["createStrategy", "A strategy sets what a portfolio should hold, and how often it is checked."],
  [
    "prepareEnrollment",
    "Stage 1 of an enrollment: the answer has what the owner signs. Nothing is created, and it may be repeated."
  ],
  [
    "enroll",
    "The owner's wallet has signed the 32 bytes of `message.raw` with EIP-191 (`personal_sign`). Send back every value of stage 1 unchanged, with the signature."
  ],
  ["getPortfolio", "The smart accounts that the owner funds are in `smartAccounts`, one a chain."],
  ["previewRebalance", "What a run would trade now, with costs. Nothing is sent."],
  ["rebalancePortfolio", "Start the run; `planHash` of the preview makes sure that it is that plan."],
  ["getOperation", "Ask every 2 to 5 seconds until `state` is `completed`, `failed` or `cancelled`."]
]

export const workedExample = (pages: ReadonlyArray<OperationPage>): string => {
  const parts = steps.map(([operationId, why], index) => {
    const page = pages.find((one) => one.operationId === operationId)
    if (page === undefined) throw new Error(`The worked example names ${operationId}, which the API has not`)
    return [
      `**${index + 1}. \`${page.route}\`** ${why}`,
      ...(page.bodyExample === undefined ? [] : [`Body:\n\n${page.bodyExample}`]),
      ...(page.answerExample === undefined ? [] : [`Answer:\n\n${page.answerExample}`])
    ].join("\n\n")
  })
  return ["One user's way, from a strategy to the first trades:", ...parts].join("\n\n")
}
