import { describe, expect, it } from "vitest"
import { comparable } from "#bench/http/sameAnswers.ts"

describe("comparable", () => {
  it("leaves out when positions were read, and nothing else", () => {
    const body = '{"fetchedAt":"2026-03-02T09:30:00.000Z","createdAt":"2026-03-02T09:30:00.000Z"}'
    expect(comparable(body)).toBe('{"fetchedAt":"*","createdAt":"2026-03-02T09:30:00.000Z"}')
  })

  it("keeps a time of another form, so that the answers differ", () => {
    const body = '{"fetchedAt":"2026-03-02T09:30:00Z"}'
    expect(comparable(body)).toBe(body)
  })
})
