package envoy
import ("testing";"time";"fmt";"strings";"github.com/budgetplan/budgetplan/importers")
func TestMini(t *testing.T){
 for _,n:=range []int{1000,4000,16000}{
 var b strings.Builder
 b.WriteString(`{"name":"r","virtual_hosts":[{"name":"h","domains":["*"],"routes":[`)
 for i:=range n { if i>0 {b.WriteByte(',')}; fmt.Fprintf(&b,`{"match":{"prefix":"/a%d"},"route":{"cluster":"c%d","timeout":"3s","retry_policy":{"retry_on":"5xx","num_retries":2,"per_try_timeout":"1s"}}}`,i,i)}
 b.WriteString("]}]}")
 t0:=time.Now()
 s:=&importers.Source{File:"x",Bytes:[]byte(b.String())}
 s.YAML(); t1:=time.Now()
 f,_:=Importer.Import(s)
 t.Log(n,len(b.String()),t1.Sub(t0),time.Since(t1),len(f.Calls))
 }
}
