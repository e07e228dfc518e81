// A LangGraph graph that deploys only after an approval.
import { Annotation, Command, END, interrupt, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ version: Annotation(), deployed: Annotation() });

// graph needs a checkpointer that outlives the process, such as PostgresSaver.
export function graph(deploy, checkpointer) {
  const approve = ({ version }) => {
    const approved = interrupt({ prompt: `Deploy ${version}?`, tool: "deploy", input: { version } });
    return new Command({ goto: approved === true ? "deploy" : END });
  };
  return new StateGraph(State)
    .addNode("approve", approve, { ends: ["deploy", END] })
    .addNode("deploy", async ({ version }) => ({ deployed: await deploy(version) }))
    .addEdge(START, "approve")
    .addEdge("deploy", END)
    .compile({ checkpointer });
}

// run starts a thread, or continues it after a restart. The key makes a repeat
// wait for the same request.
export async function run(app, nod, thread, version) {
  const config = { configurable: { thread_id: thread } };
  const { next } = await app.getState(config);
  let result = await app.invoke(next.length > 0 ? null : { version }, config);
  while (result.__interrupt__?.length) {
    const [{ id, value }] = result.__interrupt__;
    const { prompt, ...approval } = value;
    const approved = await nod.approve(prompt, approval, { session: thread, timeout: "8h" }, { key: `${thread}/${id}` });
    result = await app.invoke(new Command({ resume: approved }), config);
  }
  return result;
}
