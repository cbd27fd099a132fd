package fleet_test
import ("testing";"time";"runtime";"os";"runtime/pprof";"strconv"
"github.com/budgetplan/budgetplan/internal/fleet"
"github.com/budgetplan/budgetplan/solver"
"github.com/budgetplan/budgetplan/model")
func heap() uint64 { runtime.GC(); var m runtime.MemStats; runtime.ReadMemStats(&m); return m.HeapAlloc }
func TestZZ(t *testing.T){
 n,_:=strconv.Atoi(os.Getenv("N")); if n==0 {n=100000}
 f:=fleet.New(n,1)
 leaf,mx,in:=0,0,make([]int,len(f.Services)); for _,s:=range f.Services{ if len(s.Calls)==0{leaf++}; mx=max(mx,len(s.Calls))}
 for _,c:=range f.Calls{in[c.To]++}; mi:=0; for _,x:=range in{mi=max(mi,x)}
 t.Log("services",len(f.Services),"leaf",leaf,"maxout",mx,"maxin",mi, "yaml", len(f.YAML()))
 p:=f.Plan()
 h1:=heap()
 t0:=time.Now(); g,_:=solver.Compile(p); t.Log("compile",time.Since(t0))
 h2:=heap()
 if f,e:=os.Create(os.Getenv("PROF")); e==nil { pprof.StartCPUProfile(f) }
 t0=time.Now(); s:=solver.Solve(g,solver.Options{Allowed: os.Getenv("A")!="", Fixes: os.Getenv("F")!=""}); t.Log("solve",time.Since(t0))
 pprof.StopCPUProfile()
 h3:=heap()
 t.Log("bytes graph/call",(h2-h1)/uint64(n),"sol/call",(h3-h2)/uint64(n))
 for _,r:=range s.Roots{ t.Log(r.Need, r.Feasible, r.FeasibleKnown)}
 runtime.KeepAlive(p); runtime.KeepAlive(g); _ = model.Second
 sh:=0; for _,x:=range s.Nodes { if x.Attempts.Configured>=solver.MaxCount {sh++}}; t.Log("saturated",sh)
}
