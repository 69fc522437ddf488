/** Services of the domain say when they are used, and what they say is so. */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { complaintsAbout } from "#test/client/complaintsAbout.ts"

const root = join(import.meta.dirname, "../..")

const filesIn = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => ({ path: `${folder}/${path}`, text: readFileSync(join(root, folder, path), "utf8") }))

const domain = filesIn("domain")

/** Code without comments and without the paths of imports. */
const codeOf = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/[^\n]*|from "[^"]*"/gmu, "")

const faces = [...domain, ...["http", "rpc", "stream"].flatMap(filesIn)].map(({ path, text }) => ({
  path,
  text,
  code: codeOf(text)
}))

const serviceClass = /((?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?)export class (\w+) extends Context\.Service</gu

/** Ports that have an answer where no layer keeps them. */
const portReference = /((?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?)export const (\w+) = Context\.Reference</gu

const services = domain.flatMap(({ path, text }) =>
  [...text.matchAll(serviceClass), ...(text.includes("Port: ") ? text.matchAll(portReference) : [])].map(
    ([, comment, name]) => ({
      path,
      name: name!,
      /** Text without the marks of the comment. */
      doc: comment!.replaceAll(/^(?:\/\*\*| \*\/| \* ?)/gmu, "")
    })
  )
)

/** The lines below a heading, in one. */
const section = (doc: string, heading: string) =>
  (
    new RegExp(`^\\*\\*${heading}\\*\\*\\n\\n([\\s\\S]*?)(?:\\n\\n|\\n*$(?![\\s\\S]))`, "mu").exec(doc)?.[1] ?? ""
  ).replaceAll("\n", " ")

/** What stands between backticks. */
const namesIn = (text: string) => [...text.matchAll(/`(\w+)`/gu)].map(([, name]) => name!)

const exampleIn = /^```ts\n([\s\S]*?)^```$/gmu

const exported = new Set(
  domain.flatMap(({ text }) =>
    [...text.matchAll(/^export (?:class|const|interface|type) (\w+)/gmu)].map(([, name]) => name!)
  )
)

/** Files of the domain and of its faces that name a service as a value, other than its own. */
const usersOf = ({ name, path }: { readonly name: string; readonly path: string }) =>
  faces
    .filter(
      (file) =>
        file.path !== path &&
        file.text.includes(`"#${path}"`) &&
        new RegExp(`(?<!type )\\b${name}\\b`, "u").test(file.code)
    )
    .map((file) => file.path)

describe("services of the domain", () => {
  it("each says what it is, and when to use it", () => {
    assert.isAbove(services.length, 150)
    assert.deepStrictEqual(
      services
        .filter(
          ({ doc }) =>
            !/^\n[A-Z][^\n]*(?:\n[^\n*]+)*\.\n\n\*\*When/u.test(doc) || !section(doc, "When to use").startsWith("Use ")
        )
        .map(({ name, path }) => `${path}: ${name}`),
      []
    )
  })

  it("what they name in their stead exists", () =>
    assert.deepStrictEqual(
      services.flatMap(({ doc, name }) =>
        [...section(doc, "When to use").matchAll(/`([A-Z]\w*[a-z]\w*)(?:\.(\w+))?`/gu)].flatMap(([, other, member]) => {
          const own = domain.find(({ text }) => new RegExp(`export (?:class|const) ${other}\\b`, "u").test(text))
          const isThere =
            exported.has(other!) &&
            (member === undefined || new RegExp(`readonly ${member}\\b`, "u").test(own?.text ?? ""))
          return isThere ? [] : [`${name}: ${other}${member === undefined ? "" : `.${member}`}`]
        })
      ),
      []
    ))

  it("a service that is said to be used by some alone is used by them alone", () => {
    const alone = services.flatMap((service) => {
      const [, names] = /^Use in (`[^.]*) alone\b/u.exec(section(service.doc, "When to use")) ?? []
      return names === undefined ? [] : [{ ...service, by: namesIn(names) }]
    })
    assert.isAbove(alone.length, 20)
    assert.deepStrictEqual(
      alone.flatMap((service) =>
        usersOf(service)
          .filter((path) => !service.by.includes(basename(path, ".ts")))
          .map((path) => `${service.name}: ${path}`)
      ),
      []
    )
  })

  it("members that are said to be used by some alone are called by them alone", () => {
    const named = /((?:`[a-z]\w*`(?:, | and )?)+) in ((?:`[A-Za-z]\w*`(?:, | and )?)+) alone\b/gu
    const alone = services.flatMap((service) =>
      [...section(service.doc, "When to use").matchAll(named)].map(([, members, users]) => ({
        ...service,
        call: new RegExp(`\\.(?:${namesIn(members!).join("|")})\\(`, "u"),
        by: namesIn(users!)
      }))
    )
    assert.isAbove(alone.length, 0)
    for (const service of alone) {
      const callers = usersOf(service).filter((path) =>
        service.call.test(faces.find((file) => file.path === path)!.code)
      )
      assert.sameMembers(
        callers.map((path) => basename(path, ".ts")),
        service.by,
        service.name
      )
    }
  })

  it("a service that is said to be of its context alone is used there alone", () => {
    const own = services.filter(({ doc }) => /of this context alone\b/u.test(section(doc, "When to use")))
    assert.isAbove(own.length, 5)
    assert.deepStrictEqual(
      own.flatMap((service) => {
        const context = service.path.split("/").slice(0, 2).join("/")
        return usersOf(service)
          .filter((path) => !path.startsWith(`${context}/`))
          .map((path) => `${service.name}: ${path}`)
      }),
      []
    )
  })

  it("their examples type-check", async () => {
    const examples = services.flatMap(({ doc }) => [...doc.matchAll(exampleIn)].map(([, code]) => code!))
    assert.isAtLeast(examples.length, 12)
    assert.deepStrictEqual(await complaintsAbout(examples), [])
  })
})
