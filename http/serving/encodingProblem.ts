/**
 * How a body is encoded: as it is, in UTF-8. What is compressed or in another charset would be read as something else
 * than its sender wrote. Source: RFC 9110, 8.4 and 15.5.16; RFC 8259, 8.1.
 */
import { ValidationFailed } from "#domain/errors/Errors.ts"

const plain = /^\s*identity\s*$/iu
const charset = /;\s*charset\s*=\s*"?([^";\s]*)/giu

type Headers = Readonly<Record<string, string | undefined>>

const refusal = (detail: string) =>
  new ValidationFailed({ message: "The body is in an encoding that is not read here", details: [detail] })

/** Why a body is not read; undefined for one that is, and for none. */
export const encodingProblem = ({
  "content-encoding": encoding,
  "content-type": type
}: Headers): ValidationFailed | undefined => {
  if (encoding !== undefined && !plain.test(encoding))
    return refusal("content-encoding: expected none; send the body as it is")
  if (type === undefined || !type.includes(";")) return undefined
  for (const [, name = ""] of type.matchAll(charset))
    if (!/^utf-?8$/iu.test(name)) return refusal("content-type: expected the charset utf-8")
  return undefined
}
