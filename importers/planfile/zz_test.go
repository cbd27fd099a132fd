package planfile
import ("testing";"os";"path/filepath";"strings";"fmt";"time";"io/fs"
"github.com/budgetplan/budgetplan/importers";"github.com/budgetplan/budgetplan/internal/yamlsrc")
func TestZZ(t *testing.T){
 n,bad,rec:=0,0,0; kinds:=map[string]int{}
 filepath.WalkDir("/work/shared",func(p string,d fs.DirEntry,err error) error {
  if d.IsDir() || !(strings.HasSuffix(p,".yaml")||strings.HasSuffix(p,".yml")||strings.HasSuffix(p,".json")||strings.HasSuffix(p,".tpl")) {return nil}
  b,_:=os.ReadFile(p); st:=time.Now(); f,fs:=yamlsrc.Parse(p,b); el:=time.Since(st); n++
  if el>300*time.Millisecond {fmt.Println("slow",p,len(b),el)}
  if len(fs)>0 {bad++; k:=fs[0].Message; if i:=strings.Index(k,"`"); i>=0 {k=k[:i]}; kinds[k]++; if kinds[k]<=3 && !strings.Contains(fs[0].Message,"template"){fmt.Println(fs[0].Place(),fs[0].Message, len(fs), len(f.Docs))}}
  if recognise(&importers.Source{File:p,Bytes:b}) {rec++; fmt.Println("REC",p)}
  return nil})
 fmt.Println(n,bad,rec,kinds)
}
func TestMem(t *testing.T){
 if os.Getenv("MEM")=="" {t.Skip()}
 var sb strings.Builder
 for sb.Len() < 30<<20 {
 filepath.WalkDir(os.Getenv("MEM"),func(p string,d fs.DirEntry,err error) error {
  if d.IsDir() || !(strings.HasSuffix(p,".yaml")||strings.HasSuffix(p,".json")) || sb.Len()>30<<20 {return nil}
  b,_:=os.ReadFile(p); if _,fs:=yamlsrc.Parse(p,b); len(fs)==0 && len(b)<1<<20 { sb.WriteString("---\n"); sb.Write(b); sb.WriteString("\n") }
  return nil}) }
 src:=[]byte(sb.String()); sb.Reset(); st:=time.Now(); f,fs:=yamlsrc.Parse("x",src); 
 b,_:=os.ReadFile("/proc/self/status"); for _,l:=range strings.Split(string(b),"\n"){ if strings.HasPrefix(l,"VmHWM"){fmt.Println(l)}}
 fmt.Println(len(src)>>20,time.Since(st),len(f.Docs),len(fs)); if len(fs)>0 {fmt.Println(fs[0].Message)}
}
